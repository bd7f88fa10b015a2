package diagram

import (
	"slices"

	"gonum.org/v1/plot/vg"
)

// Placed is the result of a Layout. The lower left corner is (0, 0).
type Placed struct {
	Size    vg.Point
	Centers []vg.Point
	Lines   [][]vg.Point // of each line the 1 + 3·n control points of n joined cubic Bézier curves
}

// place gives each node the place nearest to the mean of its neighbours that the order of its layer allows.
func (l *layers) place() {
	for _, layer := range l.order {
		x := 0.0
		for _, i := range layer {
			l.nodes[i].x = x + l.nodes[i].width/2
			x += l.nodes[i].width
		}
	}
	places := make([]float64, len(l.nodes))
	for range sweeps {
		for _, above := range []bool{true, false} {
			for k := range l.order {
				layer := l.order[k]
				if !above {
					layer = l.order[len(l.order)-1-k]
				}
				for i := range l.nodes {
					places[i] = l.nodes[i].x
				}
				wanted := make([]float64, len(layer))
				for at, i := range layer {
					wanted[at] = l.wanted(i, above, places)
				}
				l.spread(layer, wanted)
			}
		}
	}
}

// spread places the nodes of a layer with the smallest sum of squared distances from the wanted places, without
// overlaps: an isotonic regression, by pooling adjacent violators.
func (l *layers) spread(layer []int, wanted []float64) {
	type block struct {
		sum   float64
		count int
	}
	mean := func(b block) float64 { return b.sum / float64(b.count) }
	offsets := make([]float64, len(layer))
	var blocks []block
	for at := range layer {
		if at > 0 {
			offsets[at] = offsets[at-1] + (l.nodes[layer[at-1]].width+l.nodes[layer[at]].width)/2
		}
		blocks = append(blocks, block{wanted[at] - offsets[at], 1})
		for n := len(blocks); n > 1 && mean(blocks[n-2]) > mean(blocks[n-1]); n = len(blocks) {
			blocks[n-2].sum += blocks[n-1].sum
			blocks[n-2].count += blocks[n-1].count
			blocks = blocks[:n-1]
		}
	}
	at := 0
	for _, b := range blocks {
		for range b.count {
			l.nodes[layer[at]].x = mean(b) + offsets[at]
			at++
		}
	}
}

// placed returns the layout, with its left end at 0. Curves leave boxes at their lower sides and enter them at their
// upper sides.
func (l *layers) placed(boxes []vg.Point, paths [][]int) (p Placed) {
	height := vg.Length(0)
	for _, b := range boxes {
		height = max(height, b.Y)
	}
	left, right := l.nodes[0].x, l.nodes[0].x
	for _, n := range l.nodes {
		left, right = min(left, n.x-n.width/2), max(right, n.x+n.width/2)
	}
	step := height + gapY
	p.Size = vg.Point{X: vg.Length(right - left), Y: step*vg.Length(len(l.order)) - gapY}
	at := func(i int) vg.Point {
		return vg.Point{X: vg.Length(l.nodes[i].x - left), Y: p.Size.Y - height/2 - step*vg.Length(l.nodes[i].layer)}
	}
	for i := range boxes {
		p.Centers = append(p.Centers, at(i))
	}
	for _, path := range paths {
		line := []vg.Point{at(path[0]).Sub(vg.Point{Y: boxes[path[0]].Y / 2})}
		for _, i := range path[1:] {
			end := at(i)
			if i < len(boxes) {
				end.Y += boxes[i].Y / 2
			}
			from := line[len(line)-1]
			bend := vg.Point{Y: (from.Y - end.Y) / 2}
			line = append(line, from.Sub(bend), end.Add(bend), end)
		}
		p.Lines = append(p.Lines, slices.Clone(line))
	}
	return p
}
