package diagram

import (
	"cmp"
	"slices"
)

// Gaps between boxes, in points.
const (
	gapX = 14
	gapY = 24
)

// layout places boxes in layers (Sugiyama, Tagawa and Toda 1981), from the inputs at the top to the result at the
// bottom. An edge that crosses layers has a point in each of them, so that every part of it leads to the next layer.
type layout struct {
	nodes []point // the boxes, then the points of long edges
	order [][]int // the nodes of each layer, from left to right
	paths [][]int // the nodes of each edge
}

// point is a box, or a place where an edge crosses a layer.
type point struct {
	layer    int
	x        float64 // of its middle
	width    float64
	up, down []int // neighbours in the layers above and below
}

// newLayout returns the layout of boxes, each of a width. Box i has edges from the boxes in[i], which come before it.
func newLayout(widths []float64, in [][]int) *layout {
	l := &layout{nodes: make([]point, len(widths))}
	l.assign(in)
	for i, width := range widths {
		l.nodes[i].width = width + gapX
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
func (l *layout) assign(in [][]int) {
	first := make([]int, len(in)) // the first layer that needs a node; 0 means none
	for i, from := range in {
		for _, j := range from {
			l.nodes[i].layer = max(l.nodes[i].layer, l.nodes[j].layer+1)
		}
		for _, j := range from {
			if first[j] == 0 || l.nodes[i].layer < first[j] {
				first[j] = l.nodes[i].layer
			}
		}
	}
	for i, from := range in {
		if len(from) == 0 && first[i] > 0 {
			l.nodes[i].layer = first[i] - 1
		}
	}
}

// join adds the edge from box j to box i.
func (l *layout) join(j, i int) {
	path := []int{j}
	for layer := l.nodes[j].layer + 1; layer < l.nodes[i].layer; layer++ {
		path = append(path, len(l.nodes))
		l.nodes = append(l.nodes, point{layer: layer, width: gapX})
		l.append(len(l.nodes) - 1)
	}
	path = append(path, i)
	for k, to := range path[1:] {
		from := path[k]
		l.nodes[from].down, l.nodes[to].up = append(l.nodes[from].down, to), append(l.nodes[to].up, from)
	}
	l.paths = append(l.paths, path)
}

// append adds node i to the right end of its layer.
func (l *layout) append(i int) {
	for len(l.order) <= l.nodes[i].layer {
		l.order = append(l.order, nil)
	}
	l.order[l.nodes[i].layer] = append(l.order[l.nodes[i].layer], i)
}

// sweeps is the number of times that each layer is arranged.
const sweeps = 48

// arrange moves all nodes towards their neighbours, above and below in turns. In the first half of the sweeps nodes
// of a layer pass each other where edges then cross less.
func (l *layout) arrange() {
	for _, layer := range l.order {
		l.spread(layer, make([]float64, len(layer)))
	}
	for sweep := range sweeps {
		above := sweep%2 == 0
		for k := range l.order {
			layer := l.order[k]
			if !above {
				layer = l.order[len(l.order)-1-k]
			}
			if sweep < sweeps/2 {
				slices.SortStableFunc(layer, func(i, j int) int { return cmp.Compare(l.wanted(i, above), l.wanted(j, above)) })
			}
			wanted := make([]float64, len(layer))
			for at, i := range layer {
				wanted[at] = l.wanted(i, above)
			}
			l.spread(layer, wanted)
		}
	}
}

// ends returns the left and the right end of the layout.
func (l *layout) ends() (left, right float64) {
	left, right = l.nodes[0].x, l.nodes[0].x
	for _, n := range l.nodes {
		left, right = min(left, n.x-n.width/2), max(right, n.x+n.width/2)
	}
	return left, right
}

// wanted returns the mean place of a node's neighbours on one side, or its own place if it has none.
func (l *layout) wanted(i int, above bool) float64 {
	neighbours := l.nodes[i].down
	if above {
		neighbours = l.nodes[i].up
	}
	if len(neighbours) == 0 {
		return l.nodes[i].x
	}
	sum := 0.0
	for _, j := range neighbours {
		sum += l.nodes[j].x
	}
	return sum / float64(len(neighbours))
}

// spread places the nodes of a layer near the wanted places, without overlaps: in the middle between where they lie if
// each makes room to its right, and if each makes room to its left.
func (l *layout) spread(layer []int, wanted []float64) {
	right, left := slices.Clone(wanted), slices.Clone(wanted)
	gap := func(at int) float64 { return (l.nodes[layer[at-1]].width + l.nodes[layer[at]].width) / 2 }
	for at := 1; at < len(layer); at++ {
		right[at] = max(right[at], right[at-1]+gap(at))
	}
	for at := len(layer) - 1; at > 0; at-- {
		left[at-1] = min(left[at-1], left[at]-gap(at))
	}
	for at, i := range layer {
		l.nodes[i].x = (left[at] + right[at]) / 2
	}
}
