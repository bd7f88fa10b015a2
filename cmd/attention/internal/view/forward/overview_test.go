package forward

import (
	"fmt"
	"math"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// layerOf returns a layer whose queries, keys and values are the rows of x.
func layerOf(t testing.TB, x []float32, width int, c graph.AttentionConfig) *Layer {
	t.Helper()
	n := G.NewMatrix(G.NewGraph(), tensor.Float32, G.WithShape(len(x)/width, width), G.WithName("x"),
		G.WithValue(tensor.New(tensor.WithShape(len(x)/width, width), tensor.WithBacking(x))))
	o := layers.AttentionOperands{ProjectedQuery: n, ProjectedKey: n, Query: n, Key: n, Value: n, Config: c}
	l := newLayer("", place{}, o)
	require.NoError(t, l.keep())
	return l
}

// An overview has the largest weight of each block, of weights that are computed one by one.
func TestOverview(t *testing.T) {
	for _, size := range []int{1, 5, 1024, 1025, 2051} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			const width = 2
			x := make([]float32, size*width)
			for i := range x {
				x[i] = float32(math.Sin(float64(3 * i)))
			}
			l := layerOf(t, x, width, graph.AttentionConfig{Heads: 1, Scale: 2, Mask: mask.SlidingWindow{Left: 700}})
			o, err := l.Overview(0, 1024)
			require.NoError(t, err)
			level := map[int]int{1025: 1, 2051: 2}[size]
			side := (size + 1<<level - 1) >> level
			require.Equal(t, []int{level, side, side}, []int{o.Level, o.Rows, o.Cols})
			want := make([]float64, side*side)
			for i := range want {
				want[i] = math.NaN()
			}
			for i := range size {
				score := func(s int) float64 {
					return 2 * (float64(x[2*i])*float64(x[2*s]) + float64(x[2*i+1])*float64(x[2*s+1]))
				}
				sum := 0.0
				for s := max(0, i-700); s <= i; s++ {
					sum += math.Exp(score(s))
				}
				for s := max(0, i-700); s <= i; s++ {
					at := i>>level*side + s>>level
					if w := math.Exp(score(s)) / sum; math.IsNaN(want[at]) || w > want[at] {
						want[at] = w
					}
				}
			}
			for i, w := range want {
				if got := float64(o.Weights[i]); !(math.Abs(got-w) <= 1e-5) && !(math.IsNaN(w) && math.IsNaN(got)) {
					require.Equal(t, w, got, "block %d", i)
				}
			}
		})
	}
}
