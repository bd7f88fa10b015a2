package diagram

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

// drawnGraph draws boxes and their inputs.
func drawnGraph(t *rapid.T) (boxes []vg.Point, in [][]int) {
	n := rapid.IntRange(1, 25).Draw(t, "n")
	for i := range n {
		width := rapid.IntRange(20, 160).Draw(t, "width")
		boxes = append(boxes, vg.Point{X: vg.Length(width), Y: boxHeight})
		var from []int
		if i > 0 {
			from = rapid.SliceOfNDistinct(rapid.IntRange(0, i-1), 0, min(i, 3), rapid.ID[int]).Draw(t, "in")
		}
		in = append(in, from)
	}
	return boxes, in
}

// requirePlaced requires that no box lies on another or outside, that every box is below those that it is computed
// from, and that a line joins them.
func requirePlaced(t require.TestingT, p Placed, boxes []vg.Point, in [][]int) {
	const rounding = 1.5 // dot prints few digits
	for i, a := range p.Centers {
		require.GreaterOrEqual(t, float64(a.X-boxes[i].X/2), -rounding)
		require.LessOrEqual(t, float64(a.X+boxes[i].X/2), float64(p.Size.X)+rounding)
		require.GreaterOrEqual(t, float64(a.Y-boxes[i].Y/2), -rounding)
		require.LessOrEqual(t, float64(a.Y+boxes[i].Y/2), float64(p.Size.Y)+rounding)
		for j := range i {
			b := p.Centers[j]
			apart := math.Abs(float64(a.X-b.X)) >= float64(boxes[i].X+boxes[j].X)/2-rounding ||
				math.Abs(float64(a.Y-b.Y)) >= float64(boxes[i].Y+boxes[j].Y)/2-rounding
			require.True(t, apart, "boxes %d and %d at %v and %v", i, j, a, b)
		}
	}
	edges := 0
	for i, from := range in {
		for _, j := range from {
			edges++
			require.Less(t, p.Centers[i].Y, p.Centers[j].Y, "%d is computed from %d", i, j)
		}
	}
	require.Len(t, p.Lines, edges)
	touches := func(at vg.Point, i int) bool {
		c := p.Centers[i]
		return math.Abs(float64(at.X-c.X)) <= float64(boxes[i].X/2)+rounding &&
			math.Abs(float64(at.Y-c.Y)) <= float64(boxes[i].Y/2)+rounding
	}
	for _, line := range p.Lines {
		require.Equal(t, 1, len(line)%3, "curves of three points after the first")
		joined := false
		for i, from := range in {
			for _, j := range from {
				joined = joined || touches(line[0], j) && touches(line[len(line)-1], i)
			}
		}
		require.True(t, joined, "a line from %v to %v", line[0], line[len(line)-1])
	}
}

func TestLayered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		boxes, in := drawnGraph(t)
		p, err := Layered(boxes, in)
		require.NoError(t, err)
		requirePlaced(t, p, boxes, in)
		again, err := Layered(boxes, in)
		require.NoError(t, err)
		require.Equal(t, p, again)
	})
}

// TestLayeredLine: a chain is a straight line down.
func TestLayeredLine(t *testing.T) {
	boxes := []vg.Point{{X: 80, Y: 28}, {X: 30, Y: 28}, {X: 120, Y: 28}}
	p, err := Layered(boxes, [][]int{nil, {0}, {1}})
	require.NoError(t, err)
	for _, c := range p.Centers {
		require.InDelta(t, float64(p.Centers[0].X), float64(c.X), 1e-9)
	}
}

// TestReduceCrossings: two pairs that could lie side by side do.
func TestReduceCrossings(t *testing.T) {
	in := [][]int{nil, nil, {1}, {0}, {1}, {0}}
	l := layers{nodes: make([]point, len(in))}
	l.assign(in)
	l.addEdges(make([]vg.Point, len(in)), in)
	require.Equal(t, 3, l.crossings())
	l.reduceCrossings()
	require.Zero(t, l.crossings())

	in = [][]int{nil, nil, {0, 1}} // lines that meet do not cross
	l = layers{nodes: make([]point, len(in))}
	l.assign(in)
	l.addEdges(make([]vg.Point, len(in)), in)
	require.Zero(t, l.crossings())
}

// TestAssign: an input lies directly above the first that needs it.
func TestAssign(t *testing.T) {
	in := [][]int{nil, nil, {0}, {2}, {3, 1}}
	l := layers{nodes: make([]point, len(in))}
	l.assign(in)
	var got []int
	for _, n := range l.nodes {
		got = append(got, n.layer)
	}
	require.Equal(t, []int{0, 2, 1, 2, 3}, got)
}
