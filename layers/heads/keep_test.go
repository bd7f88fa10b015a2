package heads_test

import (
	"math"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"
	"attention/layers/gradcases"
	"attention/layers/heads"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// ofHeads returns the statistics of kept operands, of one head after the other.
func ofHeads(t testing.TB, o layers.AttentionOperands, of func(s *graph.AttentionStats) *G.Node) (all [][]float64) {
	t.Helper()
	head, s, err := heads.Stats(must(heads.Keep(o)))
	require.NoError(t, err)
	n := of(s)
	m := must(machine.New(n))
	for h := range o.Config.Heads {
		require.NoError(t, G.Let(head, h))
		require.NoError(t, m.RunAll())
		all = append(all, golden.Floats(t, n.Value()))
	}
	return all
}

// The statistics of kept operands, head by head, are the call's, in every layout and with every mask that holds nodes.
func TestKeptOperands(t *testing.T) {
	for _, a := range gradcases.Attentions() {
		name, c := a.About, a.Config
		if !a.OfX() {
			continue
		}
		p := layers.NewParams(tensor.Float64, 1)
		l := must(layers.NewAttention(p.Scope(""), c))
		for _, masked := range []bool{false, true} {
			b := layers.NewBuild(p, layers.Eval)
			in := layers.AttentionInput{Query: input(t, b, "x", golden.Numbers(tensor.Float64, 2, 7, 5))}
			if masked && c.RoPE == nil {
				in.Mask = everyNode(t, b)
			}
			b.Of(l.Attend(b, in))
			call := b.Calls("*")[0]
			o, operands := operandsOf(t, call)
			stats, err := call.Stats()
			require.NoError(t, err, name)
			require.NoError(t, b.Err())
			for what, of := range map[string]func(s *graph.AttentionStats) *G.Node{
				"lse":      func(s *graph.AttentionStats) *G.Node { return s.LogSumExp },
				"distance": func(s *graph.AttentionStats) *G.Node { return s.Distance },
			} {
				want, shape := values(t, append(G.Nodes{of(stats)}, operands...)...)[0], of(stats).Shape()
				for h, got := range ofHeads(t, o, of) {
					for i, x := range got {
						at := (i/shape[2]*shape[1]+h)*shape[2] + i%shape[2]
						require.InDelta(t, want[at], x, 1e-12, "%s, %s, head %d", name, what, h)
					}
				}
			}
		}
	}
}

// everyNode is a mask that holds a node of each kind, and a function.
func everyNode(t testing.TB, b *layers.Build) mask.Mask {
	t.Helper()
	ids := func(name string, values []int, shape ...int) *G.Node {
		n := b.InputOf(tensor.Int, name, shape...)
		require.NoError(t, G.Let(n, tensor.New(tensor.WithShape(shape...), tensor.WithBacking(values))))
		return n
	}
	segments := ids("segments", []int{0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 3}, 2, 7)
	of := mask.Func{Visible: func(b, h, t, s int) bool { return (b+h+t+2*s)%5 > 0 }}
	starts, lengths := ids("starts", []int{2, 1}, 2), ids("lengths", []int{5, 7}, 2)
	return mask.Or(
		mask.And(of, mask.CausalAt{Start: starts}, mask.KeyLengths{Lengths: lengths}, mask.Segments{Query: segments}),
		mask.Not(mask.Keep{Keep: ids("keep", []int{0, 1, 1, 1, 0, 1, 1}, 1, 1, 1, 7)}))
}

// Additive attention's statistics are those of its weights.
func TestStatsOfAdditiveAttention(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	l := must(layers.NewAdditiveAttention(p.Scope(""), layers.AdditiveAttentionConfig{QueryDim: 5, KeyDim: 3, AttnDim: 4}))
	b := layers.NewBuild(p, layers.Eval)
	q, k := input(t, b, "q", golden.Numbers(tensor.Float64, 7, 5)), input(t, b, "k", golden.Numbers(tensor.Float64, 6, 3))
	o := must(l.Operands(b, q, k))
	scores := must(graph.AdditiveScores(o.Query, o.Key, o.Additive))
	got := values(t, b.Of(l.Weights(b, q, k)), scores, o.Query, o.Key, o.Value, o.Additive)
	want := make([][7]float64, 7)
	for i, w := range got[0] {
		s, row := i%6, &want[i/6]
		row[0] -= w * math.Log(w)
		row[1] = got[1][i] - math.Log(w)
		row[2] += w * math.Abs(float64(i/6-s))
		row[3] = max(row[3], w)
	}
	for i, of := range []func(s *graph.AttentionStats) *G.Node{
		func(s *graph.AttentionStats) *G.Node { return s.Entropy },
		func(s *graph.AttentionStats) *G.Node { return s.LogSumExp },
		func(s *graph.AttentionStats) *G.Node { return s.Distance },
		func(s *graph.AttentionStats) *G.Node {
			return must(s.Largest(1, 6))
		},
	} {
		all := ofHeads(t, o, of)
		require.Len(t, all, 1)
		for row, x := range all[0] {
			require.InDelta(t, want[row][i], x, 1e-12, "statistic %d of row %d", i, row)
		}
	}
}

func TestKeptOperandsRefuse(t *testing.T) {
	_, call := attend(t, layers.AttentionConfig{EmbedDim: 5, NumHeads: 1}, 7, 5)
	o, _ := operandsOf(t, call)
	_, err := heads.Keep(o)
	require.EqualError(t, err, "heads: projected query: got no value, want that of a run")
	_, _, err = heads.Stats(o)
	require.EqualError(t, err, "heads: projected query: got no value, want that of a run")
}
