package layers_test

import (
	"math"
	"testing"

	"attention/internal/expr"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

// The norms of the states are those of the recurrence, also of one head alone, whose weights are those of the layer.
func TestLinearAttentionOperands(t *testing.T) {
	eachLinear(t, func(t *testing.T, want torchCase, c layers.LinearAttentionConfig) {
		const T = 67
		l, p := linearLayer(t, want, c)
		b := layers.NewBuild(p, layers.Eval)
		text := golden.Dense(want.dt, want.file.Float64(want.prefix + "x")[:T*12], T, 12)
		_, err := l.Forward(b, input(t, b, "x", text))
		require.NoError(t, err)
		call := b.LinearCalls("*")[0]
		o, err := call.Operands()
		require.NoError(t, err)
		weights, norms := b.Of(call.Weights()), b.Of(o.StateNorms())
		require.NoError(t, b.Err())
		wanted := G.Nodes{weights, norms}
		for _, n := range []*G.Node{o.Query, o.Key, o.Value, o.Config.Decay, o.Config.Beta} {
			if n != nil {
				wanted = append(wanted, n)
			}
		}
		got := values(t, wanted...)
		kept, err := o.Kept()
		require.NoError(t, err)
		for head := range c.NumHeads {
			one, err := kept.Head(head)
			require.NoError(t, err)
			var f expr.Formula
			alone := values(t, f.Of(one.Weights()), f.Of(one.StateNorms()))
			require.InDeltaSlice(t, got[0][head*T*T:][:T*T], alone[0], 1e-4)
			keyHead := head * o.Config.KVHeads / c.NumHeads
			requireNorms(t, one, alone[1])
			golden.Close(t, "norms", alone[1], got[1][keyHead*T:][:T], 1e-4, 1e-4)
		}
		_, err = kept.Head(4)
		require.EqualError(t, err, "layers: operands: head: got 4, want 0 to 3")
		_, err = layers.LinearOperands{}.Weights()
		require.EqualError(t, err, "layers: operands: got nil, want those of LinearCall.Operands")
		wrong := kept
		wrong.Config.KVHeads = 3
		_, err = wrong.StateNorms()
		require.EqualError(t, err, "layers: operands: graph: LinearAttention: key/value heads: got 3, "+
			"want a divisor of the 4 heads")
	})
}

// requireNorms compares norms with those of the recurrence of one head, token by token.
func requireNorms(t *testing.T, o layers.LinearOperands, norms []float64) {
	t.Helper()
	numbers := func(n *G.Node, otherwise float64) func(t, i int) float64 {
		if n == nil {
			return func(int, int) float64 { return otherwise }
		}
		all, width := golden.Floats(t, n.Value()), n.Shape()[1]
		return func(t, i int) float64 { return all[t*width+i%width] }
	}
	k, v, decay := numbers(o.Key, 0), numbers(o.Value, 0), numbers(o.Config.Decay, 0)
	D, Dv := o.Key.Shape()[1], o.Value.Shape()[1]
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
