package heads_test

import (
	"math"
	"testing"

	"attention/internal/golden"
	"attention/layers"
	"attention/layers/heads"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A head's weights are its part of the layer's, and the norms of its states those of the recurrence, in every form and
// both types.
func TestImplied(t *testing.T) {
	const T = 67
	for _, form := range []string{"linear", "retention", "gla", "delta_net", "gated_delta_net"} {
		for i, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			c := must(layers.LinearAttentionOf(form))
			c.EmbedDim, c.NumHeads, c.NumKVHeads, c.ValueDim = 12, 4, 4>>i, 5
			p := layers.NewParams(dt, 1)
			l := must(layers.NewLinearAttention(p.Scope(""), c))
			b := layers.NewBuild(p, layers.Eval)
			b.Of(l.Forward(b, input(t, b, "x", golden.Numbers(dt, T, 12))))
			require.NoError(t, b.Err())
			call := b.LinearCalls("*")[0]
			o := must(call.Operands())
			wanted := G.Nodes{b.Of(call.Weights())}
			for _, n := range []*G.Node{o.Query, o.Key, o.Value, o.Config.Decay, o.Config.Beta} {
				if n != nil {
					wanted = append(wanted, n)
				}
			}
			want := values(t, wanted...)[0]
			kept := must(heads.KeepLinear(o))
			for head := range c.NumHeads {
				weights, norms, err := heads.Implied(kept, head)
				require.NoError(t, err)
				got := values(t, weights, norms)
				require.InDeltaSlice(t, want[head*T*T:][:T*T], got[0], 1e-4)
				requireNorms(t, kept, head*c.NumKVHeads/c.NumHeads, got[1])
			}
			_, _, err := heads.Implied(kept, 4)
			require.EqualError(t, err, "heads: head: got 4, want 0 to 3")
		}
	}
	_, _, err := heads.Implied(layers.LinearOperands{}, 0)
	require.EqualError(t, err, "layers: operands: got nil, want those of LinearCall.Operands")
}

// requireNorms compares norms with those of the recurrence of one key head, token by token.
func requireNorms(t *testing.T, o layers.LinearOperands, head int, norms []float64) {
	t.Helper()
	numbers := func(n *G.Node, otherwise float64) func(t, i int) float64 {
		if n == nil {
			return func(int, int) float64 { return otherwise }
		}
		all, row := golden.Floats(t, n.Value()), n.Shape()[1]
		width := row / o.Config.KVHeads
		return func(t, i int) float64 { return all[t*row+head*width+i%width] }
	}
	k, v, decay := numbers(o.Key, 0), numbers(o.Value, 0), numbers(o.Config.Decay, 0)
	D, Dv := o.Key.Shape()[1]/o.Config.KVHeads, o.Value.Shape()[1]/o.Config.KVHeads
	state := make([]float64, D*Dv)
	for at, got := range norms {
		squares := 0.0
		for j := range Dv {
			u := v(at, j)
			for d := range D {
				state[d*Dv+j] *= math.Exp(decay(at, d))
				if o.Config.Beta != nil {
					u -= state[d*Dv+j] * k(at, d)
				}
			}
			u *= numbers(o.Config.Beta, 1)(at, 0)
			for d := range D {
				state[d*Dv+j] += u * k(at, d)
				squares += state[d*Dv+j] * state[d*Dv+j]
			}
		}
		require.InEpsilon(t, math.Sqrt(squares), got, 1e-4, "token %d", at)
	}
}
