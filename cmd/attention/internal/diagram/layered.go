package diagram

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"
)

// Gaps between boxes, in points.
const (
	gapX = 14
	gapY = 24
)

// layers is a layout under construction: nodes in layers, from the inputs at the top to the result at the bottom. An
// edge that crosses layers has a point in each of them, so that every part of it leads to the next layer.
type layers struct {
	nodes []point
	order [][]int // the nodes of each layer, from left to right
}

// point is a box, or a place where an edge crosses a layer.
type point struct {
	layer    int
	x        float64
	width    float64
	up, down []int // neighbours in the layers above and below
}

// Layered places the nodes of a diagram in layers (Sugiyama, Tagawa and Toda 1981).
func Layered(boxes []vg.Point, in [][]int) (Placed, error) {
	l := layers{nodes: make([]point, len(boxes))}
	l.assign(in)
	paths := l.addEdges(boxes, in)
	l.reduceCrossings()
	l.place()
	return l.placed(boxes, paths), nil
}

// assign gives each node a layer: the one below the lowest of its inputs. A node without inputs moves down to the layer
// above the first node that needs it.
func (l *layers) assign(in [][]int) {
	for i, from := range in {
		for _, j := range from {
			l.nodes[i].layer = max(l.nodes[i].layer, l.nodes[j].layer+1)
		}
	}
	first := make([]int, len(in))
	for i, from := range in {
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

// addEdges adds the points of long edges and returns the path of each edge.
func (l *layers) addEdges(boxes []vg.Point, in [][]int) (paths [][]int) {
	for i := range l.nodes {
		l.nodes[i].width = float64(boxes[i].X) + gapX
		l.append(i)
	}
	for i, from := range in {
		for _, j := range from {
			path := []int{j}
			for layer := l.nodes[j].layer + 1; layer < l.nodes[i].layer; layer++ {
				l.nodes = append(l.nodes, point{layer: layer, width: gapX})
				path = append(path, len(l.nodes)-1)
				l.append(len(l.nodes) - 1)
			}
			path = append(path, i)
			for k := 1; k < len(path); k++ {
				a, b := path[k-1], path[k]
				l.nodes[a].down, l.nodes[b].up = append(l.nodes[a].down, b), append(l.nodes[b].up, a)
			}
			paths = append(paths, path)
		}
	}
	return paths
}

// append adds node i to the right end of its layer.
func (l *layers) append(i int) {
	for len(l.order) <= l.nodes[i].layer {
		l.order = append(l.order, nil)
	}
	l.order[l.nodes[i].layer] = append(l.order[l.nodes[i].layer], i)
}

// sweeps is the number of times that layers are ordered and placed by their neighbours.
const sweeps = 24

// reduceCrossings orders each layer by the mean places of its nodes' neighbours, above and below in turns, and keeps the
// order with the fewest crossings.
func (l *layers) reduceCrossings() {
	best, fewest := l.cloneOrder(), l.crossings()
	for sweep := range sweeps {
		place := make([]float64, len(l.nodes))
		for _, layer := range l.order {
			for at, i := range layer {
				place[i] = float64(at)
			}
		}
		for k := range l.order {
			layer := l.order[k]
			if sweep%2 == 1 {
				layer = l.order[len(l.order)-1-k]
			}
			slices.SortStableFunc(layer, func(i, j int) int {
				return cmp.Compare(l.wanted(i, sweep%2 == 0, place), l.wanted(j, sweep%2 == 0, place))
			})
			for at, i := range layer {
				place[i] = float64(at)
			}
		}
		if n := l.crossings(); n < fewest {
			best, fewest = l.cloneOrder(), n
		}
	}
	l.order = best
}

func (l *layers) cloneOrder() (order [][]int) {
	for _, layer := range l.order {
		order = append(order, slices.Clone(layer))
	}
	return order
}

// wanted returns the mean place of a node's neighbours on one side, or its own place if it has none.
func (l *layers) wanted(i int, above bool, place []float64) float64 {
	neighbours := l.nodes[i].down
	if above {
		neighbours = l.nodes[i].up
	}
	if len(neighbours) == 0 {
		return place[i]
	}
	sum := 0.0
	for _, j := range neighbours {
		sum += place[j]
	}
	return sum / float64(len(neighbours))
}

// crossings counts the pairs of edges between neighbouring layers that cross.
func (l *layers) crossings() (n int) {
	at := make([]int, len(l.nodes))
	for _, layer := range l.order {
		for k, i := range layer {
			at[i] = k
		}
	}
	for _, layer := range l.order {
		for a, i := range layer {
			for _, j := range layer[a+1:] {
				for _, x := range l.nodes[i].down {
					for _, y := range l.nodes[j].down {
						if at[x] > at[y] {
							n++
						}
					}
				}
			}
		}
	}
	return n
}
