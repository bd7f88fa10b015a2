package layered

import (
	"cmp"
	"testing"

	_ "attention/internal/testenv"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const gap = 14

// drawnGraph draws the widths of boxes and their inputs.
func drawnGraph(t *rapid.T) (widths []float64, in [][]int) {
	n := rapid.IntRange(1, 25).Draw(t, "n")
	for i := range n {
		widths = append(widths, float64(rapid.IntRange(20, 160).Draw(t, "width")))
		var from []int
		if i > 0 {
			from = rapid.SliceOfNDistinct(rapid.IntRange(0, i-1), 0, min(i, 3), rapid.ID[int]).Draw(t, "in")
		}
		in = append(in, from)
	}
	return widths, in
}

// TestLayout: no box lies on another or outside, every box is below those that it is computed from, a path through all
// layers between joins them, and the layout is the same again.
func TestLayout(t *testing.T) {
	const rounding = 1e-6
	rapid.Check(t, func(t *rapid.T) {
		widths, in := drawnGraph(t)
		l := New(widths, gap, in)
		require.Equal(t, l, New(widths, gap, in))
		left, right := l.Ends()
		placed := 0
		for layer, nodes := range l.Layers {
			require.NotEmpty(t, nodes)
			end := left
			for _, i := range nodes {
				n := l.Nodes[i]
				require.Equal(t, layer, n.Layer)
				require.GreaterOrEqual(t, n.X-n.Width/2, end-rounding, "box %d lies on the one at its left", i)
				end = n.X + n.Width/2
				placed++
			}
			require.LessOrEqual(t, end, right+rounding)
		}
		require.Equal(t, len(l.Nodes), placed)
		for i, width := range widths {
			require.Equal(t, width+gap, l.Nodes[i].Width)
		}
		var wanted, joined [][2]int
		for i, from := range in {
			for _, j := range from {
				wanted = append(wanted, [2]int{j, i})
			}
		}
		for _, path := range l.Paths {
			joined = append(joined, [2]int{path[0], path[len(path)-1]})
			for k, to := range path[1:] {
				require.Equal(t, l.Nodes[path[k]].Layer+1, l.Nodes[to].Layer)
			}
		}
		require.Equal(t, wanted, joined)
	})
}

// TestLayoutOfAChain: it is a straight line down.
func TestLayoutOfAChain(t *testing.T) {
	l := New([]float64{80, 30, 120}, gap, [][]int{nil, {0}, {1}})
	for i, n := range l.Nodes {
		require.Equal(t, i, n.Layer)
		require.InDelta(t, l.Nodes[0].X, n.X, 1e-9)
	}
}

// TestLayoutWithoutCrossings: two pairs that could lie side by side do.
func TestLayoutWithoutCrossings(t *testing.T) {
	l := New(make([]float64, 6), gap, [][]int{nil, nil, {1}, {0}, {1}, {0}})
	across := func(a, b int) int { return cmp.Compare(l.Nodes[a].X, l.Nodes[b].X) }
	for _, pair := range [][2]int{{2, 3}, {2, 5}, {4, 3}, {4, 5}} {
		require.Equal(t, across(1, 0), across(pair[0], pair[1]), pair)
	}
}

// TestLayoutOfInputs: an input lies directly above the first that needs it.
func TestLayoutOfInputs(t *testing.T) {
	var got []int
	for _, n := range New(make([]float64, 5), gap, [][]int{nil, nil, {0}, {2}, {3, 1}}).Nodes {
		got = append(got, n.Layer)
	}
	require.Equal(t, []int{0, 2, 1, 2, 3}, got[:5], "without the point of an edge")
}
