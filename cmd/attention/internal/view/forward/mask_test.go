package forward

import (
	"math"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// Keys that a mask hides are not shown, and are −1 in a thumbnail, not 0. A row whose keys are all hidden has no
// weights.
func TestMasks(t *testing.T) {
	b := layers.NewBuild(layers.NewParams(tensor.Float32, 1), layers.Eval)
	segments := b.InputOf(tensor.Int, "segments", 7)
	require.NoError(t, let(segments, []int{0, 0, 0, 1, 1, 2, 2}))
	keep := b.InputOf(tensor.Int, "keep", 7)
	require.NoError(t, let(keep, []int{0, 1, 0, 1, 1, 0, 1}))
	require.NoError(t, b.Err())
	for _, c := range []struct {
		name  string
		mask  mask.Mask
		shows func(q, k int) bool
	}{
		{"none", nil, func(int, int) bool { return true }},
		{"causal", mask.Causal{}, func(q, k int) bool { return k <= q }},
		{"all before its own", mask.Causal{Offset: -1}, func(q, k int) bool { return k < q }},
		{"two ahead", mask.Causal{Offset: 2}, func(q, k int) bool { return k <= q+2 }},
		{"function", mask.Func{VisibleAt: func(t, s int) bool { return s < t && (t-s)%2 == 0 }},
			func(q, k int) bool { return k < q && (q-k)%2 == 0 }},
		{"window", mask.SlidingWindow{Left: 2}, func(q, k int) bool { return k <= q && k >= q-2 }},
		{"prefix", mask.Or(mask.Causal{}, mask.Prefix{N: 3}), func(q, k int) bool { return k <= q || k < 3 }},
		{"segments", mask.And(mask.Causal{}, mask.Segments{Query: segments, Key: segments}),
			func(q, k int) bool { s := []int{0, 0, 0, 1, 1, 2, 2}; return k <= q && s[q] == s[k] }},
		{"hidden keys", mask.And(mask.Causal{}, mask.Keep{Keep: keep}),
			func(q, k int) bool { return k <= q && []int{0, 1, 0, 1, 1, 0, 1}[k] == 1 }},
	} {
		l := layerOf(t, make([]float32, 14), 2, graph.AttentionConfig{Heads: 1, Scale: 1, Mask: c.mask})
		s, err := l.Summary(0)
		require.NoError(t, err, c.name)
		require.Equal(t, []int{7, 7}, []int{s.Rows, s.Cols})
		for q := range 7 {
			sees := map[int]bool{}
			eachKey(l.seen(0, q), func(k int) { sees[k] = true })
			for k := range 7 {
				require.Equal(t, c.shows(q, k), sees[k], "%s: query %d, key %d", c.name, q, k)
				require.Equal(t, c.shows(q, k), s.Thumbnail[q*7+k] > 0, "%s: query %d, key %d", c.name, q, k)
				require.Equal(t, !c.shows(q, k), s.Thumbnail[q*7+k] == -1, "%s: query %d, key %d", c.name, q, k)
			}
			if len(sees) == 0 {
				require.True(t, math.IsInf(float64(s.LSE[q]), -1), c.name)
			} else {
				require.InDelta(t, math.Log(float64(len(sees))), s.LSE[q], 1e-6, c.name)
			}
		}
	}
}
