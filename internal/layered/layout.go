// Package layered places the boxes of a directed graph in layers (Sugiyama, Tagawa and Toda 1981), from the inputs at
// the top to the result at the bottom, near their neighbours and with few crossing edges.
package layered

import (
	"cmp"
	"slices"
)

// Layout has the places of boxes. An edge that crosses layers has a point in each of them, so that every part of it
// leads to the next layer.
type Layout struct {
	Nodes  []Node  // the boxes, then the points of long edges
	Layers [][]int // the nodes of each layer, from left to right
	Paths  [][]int // the nodes of each edge

	gap float64 // between nodes of a layer
}

// Node is a box, or a point where an edge crosses a layer.
type Node struct {
	Layer int     // 0 is the uppermost
	X     float64 // of its middle
	Width float64 // with the gap to its neighbours

	up, down []int // neighbours in the layers above and below
}

// New returns the layout of boxes of these widths, with a gap between those of a layer. Box i has edges from the boxes
// in[i], which come before it.
func New(widths []float64, gap float64, in [][]int) *Layout {
	l := &Layout{Nodes: make([]Node, len(widths)), gap: gap}
	l.assign(in)
	for i, width := range widths {
		l.Nodes[i].Width = width + gap
		l.append(i)
	}
	for i, from := range in {
		for _, j := range from {
			l.join(j, i)
		}
	}
	l.arrange()
	return l
}

// assign gives each node a layer: the one below the lowest of its inputs. A node without inputs moves down to the layer
// above the first node that needs it.
func (l *Layout) assign(in [][]int) {
	first := make([]int, len(in)) // the first layer that needs a node; 0 means none
	for i, from := range in {
		for _, j := range from {
			l.Nodes[i].Layer = max(l.Nodes[i].Layer, l.Nodes[j].Layer+1)
		}
		for _, j := range from {
			if first[j] == 0 || l.Nodes[i].Layer < first[j] {
				first[j] = l.Nodes[i].Layer
			}
		}
	}
	for i, from := range in {
		if len(from) == 0 && first[i] > 0 {
			l.Nodes[i].Layer = first[i] - 1
		}
	}
}

// join adds the edge from box j to box i.
func (l *Layout) join(j, i int) {
	path := []int{j}
	for layer := l.Nodes[j].Layer + 1; layer < l.Nodes[i].Layer; layer++ {
		path = append(path, len(l.Nodes))
		l.Nodes = append(l.Nodes, Node{Layer: layer, Width: l.gap})
		l.append(len(l.Nodes) - 1)
	}
	path = append(path, i)
	for k, to := range path[1:] {
		from := path[k]
		l.Nodes[from].down, l.Nodes[to].up = append(l.Nodes[from].down, to), append(l.Nodes[to].up, from)
	}
	l.Paths = append(l.Paths, path)
}

// append adds node i to the right end of its layer.
func (l *Layout) append(i int) {
	for len(l.Layers) <= l.Nodes[i].Layer {
		l.Layers = append(l.Layers, nil)
	}
	l.Layers[l.Nodes[i].Layer] = append(l.Layers[l.Nodes[i].Layer], i)
}

// sweeps is the number of times that each layer is arranged.
const sweeps = 48

// arrange moves all nodes towards their neighbours, above and below in turns. In the first half of the sweeps nodes
// of a layer pass each other where edges then cross less.
func (l *Layout) arrange() {
	for _, layer := range l.Layers {
		l.spread(layer, make([]float64, len(layer)))
	}
	for sweep := range sweeps {
		above := sweep%2 == 0
		for k := range l.Layers {
			layer := l.Layers[k]
			if !above {
				layer = l.Layers[len(l.Layers)-1-k]
			}
			if sweep < sweeps/2 {
				slices.SortStableFunc(layer,
					func(i, j int) int { return cmp.Compare(l.wanted(i, above), l.wanted(j, above)) })
			}
			wanted := make([]float64, len(layer))
			for at, i := range layer {
				wanted[at] = l.wanted(i, above)
			}
			l.spread(layer, wanted)
		}
	}
}

// Ends returns the left and the right end of the layout.
func (l *Layout) Ends() (left, right float64) {
	left, right = l.Nodes[0].X, l.Nodes[0].X
	for _, n := range l.Nodes {
		left, right = min(left, n.X-n.Width/2), max(right, n.X+n.Width/2)
	}
	return left, right
}

// wanted returns the mean place of a node's neighbours on one side, or its own place if it has none.
func (l *Layout) wanted(i int, above bool) float64 {
	neighbours := l.Nodes[i].down
	if above {
		neighbours = l.Nodes[i].up
	}
	if len(neighbours) == 0 {
		return l.Nodes[i].X
	}
	sum := 0.0
	for _, j := range neighbours {
		sum += l.Nodes[j].X
	}
	return sum / float64(len(neighbours))
}

// spread places the nodes of a layer near the wanted places, without overlaps: in the middle between where they lie if
// each makes room to its right, and if each makes room to its left.
func (l *Layout) spread(layer []int, wanted []float64) {
	right, left := slices.Clone(wanted), slices.Clone(wanted)
	gap := func(at int) float64 { return (l.Nodes[layer[at-1]].Width + l.Nodes[layer[at]].Width) / 2 }
	for at := 1; at < len(layer); at++ {
		right[at] = max(right[at], right[at-1]+gap(at))
	}
	for at := len(layer) - 1; at > 0; at-- {
		left[at-1] = min(left[at-1], left[at]-gap(at))
	}
	for at, i := range layer {
		l.Nodes[i].X = (left[at] + right[at]) / 2
	}
}
