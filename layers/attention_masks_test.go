package layers_test

import (
	"slices"
	"testing"

	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A query that sees no key gets weights, context and gradients of zero, by either form:
// its output is the output projection's bias.
func TestQueriesThatSeeNoKey(t *testing.T) {
	for name, change := range map[string]func(c *layers.AttentionConfig){
		"plain":   func(*layers.AttentionConfig) {},
		"sinks":   func(c *layers.AttentionConfig) { c.Sinks = true },
		"biases":  func(c *layers.AttentionConfig) { c.ALiBi, c.RelativeBias = true, &layers.RelativeBiasConfig{} },
		"softcap": func(c *layers.AttentionConfig) { c.Softcap, c.QKNorm = 3, layers.L2Norm },
	} {
		p, l := newAttention(t, tensor.Float64, having(plainAttention, func(c *layers.AttentionConfig) {
			change(c)
			c.OutBias = true
		}))
		bias, _ := p.Get("out_proj.bias")
		x, key := golden.Numbers(tensor.Float64, 2, 7, 5), golden.Numbers(tensor.Float64, 2, 7, 5)
		call := func(b *layers.Build) layers.AttentionInput { // the first batch sees nothing, nor does query 2 of the second
			in := crossCall(t, x, key)(b)
			shown := slices.Repeat([]float64{1}, 7*7)
			clear(shown[2*7 : 3*7])
			in.Mask = mask.And(mask.KeyLengths{Lengths: input(t, b, "lengths", tensor.New(tensor.WithBacking([]int{0, 7})))},
				mask.Keep{Keep: input(t, b, "keep", golden.Dense(tensor.Float64, shown, 7, 7))})
			return in
		}
		out, weights := attended(t, p, l, call)
		fused, composed := queryGradients(t, p, l, call)
		for row := range 2 * 7 {
			blind := row < 7 || row%7 == 2
			require.Equal(t, blind, slices.Equal(bias.Data().([]float64), out[row*5:][:5]), "%s, row %d", name, row)
			for h := range 3 {
				require.Equal(t, blind, allZero(weights[((row/7*3+h)*7+row%7)*7:][:7]), "%s, row %d", name, row)
			}
			require.Equal(t, blind, allZero(fused[row*5:][:5]), "%s, row %d", name, row)
			require.Equal(t, blind, allZero(composed[row*5:][:5]), "%s, row %d", name, row)
		}
		require.InDeltaSlice(t, composed, fused, 1e-14)
	}
}

func allZero(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return v != 0 })
}

// queryGradients returns the gradients of the query by either form, for a sum of all outputs with different weights.
func queryGradients(t *testing.T, p *layers.Params, l *layers.Attention,
	call func(b *layers.Build) layers.AttentionInput,
) (fused, composed []float64) {
	t.Helper()
	gradient := func(forward func(b *layers.Build, in layers.AttentionInput) (*G.Node, error)) []float64 {
		b := layers.NewBuild(p, layers.Eval)
		in := call(b)
		out := must(forward(b, in))
		grads, err := G.Backpropagate(G.Nodes{out}, G.Nodes{input(t, b, "dout", golden.Numbers(tensor.Float64, out.Shape()...))},
			G.Nodes{in.Query})
		require.NoError(t, err)
		return values(t, grads[0])[0]
	}
	return gradient(l.Attend), gradient(func(b *layers.Build, in layers.AttentionInput) (*G.Node, error) {
		out, _, err := attendObserved(b, l, in)
		return out, err
	})
}

// The masks of the config and of the call both apply.
func TestMasksOfTheConfigAndTheCallAreJoined(t *testing.T) {
	p, l := newAttention(t, tensor.Float64, having(plainAttention,
		func(c *layers.AttentionConfig) { c.Mask = mask.Causal{} }))
	open := must(layers.NewAttention(p.Scope("open"), plainAttention))
	require.NoError(t, open.SetState(layers.Book, must(l.State(layers.Book))))
	with := func(m mask.Mask) func(b *layers.Build) layers.AttentionInput {
		return func(b *layers.Build) layers.AttentionInput {
			in := selfCall(t, golden.Numbers(tensor.Float64, 2, 7, 5))(b)
			in.Mask = m
			return in
		}
	}
	window := mask.SlidingWindow{Left: 2, Right: 2}
	for joined, call := range map[mask.Mask]mask.Mask{mask.And(mask.Causal{}, window): window, mask.Causal{}: nil} {
		want, _ := attended(t, p, open, with(joined))
		got, _ := attended(t, p, l, with(call))
		require.Equal(t, want, got)
	}
}
