package heads_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"attention/graph/machine"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"
	"attention/layers/heads"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The entropy of a head is the mean over its queries of that of the weights, as naively summed, over all calls of a
// layer; its largest score gives the largest of a row's weights against the row's sum.
func TestRecord(t *testing.T) {
	const B, T, E, H = 2, 5, 6, 3
	for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		p := layers.NewParams(dtype, 3)
		l := must(layers.NewAttention(p.Scope("attn"), layers.AttentionConfig{EmbedDim: E, NumHeads: H, Scale: 9,
			Mask: mask.Causal{}}))
		b := layers.NewBuild(p, layers.Eval)
		b.Observe("*")
		r := rand.New(rand.NewPCG(1, 2))
		for _, name := range []string{"x", "y"} {
			x := b.Input(name, B, T, E)
			v := make([]float64, B*T*E)
			for i := range v {
				v[i] = r.NormFloat64()
			}
			require.NoError(t, G.Let(x, golden.Dense(dtype, v, B, T, E)))
			b.Of(l.Forward(b, x))
		}
		require.NoError(t, b.Err())
		calls := b.Calls("*")
		nodes, numbers, err := heads.Record(calls)
		require.NoError(t, err)
		wanted := append(G.Nodes{}, nodes...)
		for _, c := range calls {
			wanted = append(wanted, b.Of(c.Weights()))
			wanted = append(wanted, must(c.Stats()).LogSumExp)
		}
		require.NoError(t, must(machine.New(wanted...)).RunAll())
		var values []*tensor.Dense
		for _, n := range nodes {
			values = append(values, n.Value().(*tensor.Dense))
		}
		got := must(numbers(values))
		require.Len(t, got, 2)
		for h := range H {
			entropy, largest := 0.0, math.Inf(-1)
			for i := range calls {
				weights := golden.Floats(t, wanted[len(nodes)+2*i].Value().(*tensor.Dense))
				sums := golden.Floats(t, wanted[len(nodes)+2*i+1].Value().(*tensor.Dense))
				for row := range B * T {
					at := row/T*H*T + h*T + row%T
					for _, w := range weights[at*T:][:T] {
						if w > 0 {
							entropy -= w * math.Log(w) / (2 * B * T)
							largest = max(largest, math.Log(w)+sums[at])
						}
					}
				}
			}
			tolerance := 1e-12
			if dtype == tensor.Float32 {
				tolerance = 1e-5
			}
			require.InDelta(t, entropy, got["entropy.attn"][h], tolerance)
			require.InDelta(t, largest, got["largest_score.attn"][h], 10*tolerance)
		}
		_, err = numbers(values[1:])
		require.EqualError(t, err, "heads: record: got values of other nodes, want those of Record")
		values[0] = golden.Dense(dtype, make([]float64, 4), 4)
		_, err = numbers(values)
		require.EqualError(t, err, "heads: record: got values of other nodes, want those of Record")
	}
	_, _, err := heads.Record(nil)
	require.EqualError(t, err, "heads: record: got no attention, want at least one of Build.Calls")
	for _, call := range []*layers.AttentionCall{nil, {}} {
		_, _, err = heads.Record([]*layers.AttentionCall{call})
		require.EqualError(t, err, "heads: record: got nil or a zero call, want one of Build.Calls")
	}
}

// Queries that see no key do not count.
func TestRecordOfHiddenRows(t *testing.T) {
	_, call := attend(t, layers.AttentionConfig{EmbedDim: 2, NumHeads: 1}, 3, 2)
	_, numbers, err := heads.Record([]*layers.AttentionCall{call})
	require.NoError(t, err)
	got := must(numbers([]*tensor.Dense{golden.Dense(tensor.Float64, []float64{0, 0.5, 0.75}, 1, 3),
		golden.Dense(tensor.Float64, []float64{math.Inf(-1), -2, -1}, 1, 3)}))
	require.Equal(t, map[string][]float64{"entropy.attn": {0.625}, "largest_score.attn": {-1}}, got)
}
