package layers_test

import (
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// The positions of the queries among the keys, from Align or from Positions. If there are as many queries as keys, they
// default to 0, 1, … for both; only distances matter.
func TestPositionsOfRoPE(t *testing.T) {
	p, lowerRight := newAttention(t, tensor.Float64, having(plainAttention, func(c *layers.AttentionConfig) {
		c.RoPE, c.Align = &graph.RoPEConfig{}, mask.LowerRight
	}))
	square := must(layers.NewAttention(p.Scope("square"),
		having(plainAttention, func(c *layers.AttentionConfig) { c.RoPE = &graph.RoPEConfig{} })))
	require.NoError(t, square.SetState(layers.Book, must(lowerRight.State(layers.Book))))
	x, key := golden.Numbers(tensor.Float64, 2, 3, 5), golden.Numbers(tensor.Float64, 2, 7, 5)
	at := func(call func(*layers.Build) layers.AttentionInput, positions, keyPositions any,
	) func(b *layers.Build) layers.AttentionInput {
		return func(b *layers.Build) layers.AttentionInput {
			in := call(b)
			in.Positions = input(t, b, "positions", tensor.New(tensor.WithBacking(positions)))
			if keyPositions != nil {
				in.KeyPositions = input(t, b, "key positions", tensor.New(tensor.WithBacking(keyPositions)))
			}
			return in
		}
	}
	cross := crossCall(t, x, key)
	want, _ := attended(t, p, lowerRight, cross)
	got, _ := attended(t, p, square, at(cross, []int{4, 5, 6}, nil))
	require.InDeltaSlice(t, want, got, 1e-14)
	got, _ = attended(t, p, square, at(cross, []int64{14, 15, 16}, []int{10, 11, 12, 13, 14, 15, 16}))
	require.InDeltaSlice(t, want, got, 1e-13, "all ten farther")
	got, _ = attended(t, p, square, at(cross, []int{4, 5, 7}, nil))
	require.NotEqual(t, want, got)

	want, _ = attended(t, p, square, selfCall(t, key))
	for _, positions := range [][]int{{0, 1, 2, 3, 4, 5, 6}, {-3, -2, -1, 0, 1, 2, 3}} {
		got, _ = attended(t, p, square, at(selfCall(t, key), positions, nil))
		require.InDeltaSlice(t, want, got, 1e-13, "the keys' are the queries'")
	}
	got, _ = attended(t, p, lowerRight, selfCall(t, key))
	require.Equal(t, want, got, "T = S")
}

// Some options need positions in the sequence; a plain mask, or none, does not.
func TestWhoNeedsAnAlignment(t *testing.T) {
	for name, change := range map[string]func(c *layers.AttentionConfig){
		"rope":     func(c *layers.AttentionConfig) { c.RoPE = &graph.RoPEConfig{} },
		"alibi":    func(c *layers.AttentionConfig) { c.ALiBi = true },
		"t5":       func(c *layers.AttentionConfig) { c.RelativeBias = &layers.RelativeBiasConfig{} },
		"forget":   func(c *layers.AttentionConfig) { c.Forget = true },
		"none":     func(*layers.AttentionConfig) {},
		"extra":    func(c *layers.AttentionConfig) { c.AddBiasKV, c.AddZeroAttn = true, true },
		"t5 extra": func(c *layers.AttentionConfig) { c.RelativeBias, c.AddZeroAttn = &layers.RelativeBiasConfig{}, true },
	} {
		for _, align := range []mask.Alignment{mask.Square, mask.UpperLeft, mask.LowerRight} {
			p, l := newAttention(t, tensor.Float64, having(plainAttention, func(c *layers.AttentionConfig) {
				change(c)
				c.Align = align
			}))
			x, key := golden.Numbers(tensor.Float64, 7, 5), golden.Numbers(tensor.Float64, 3, 5)
			needs := name != "none" && name != "extra"
			for _, call := range []func(*layers.Build) layers.AttentionInput{
				crossCall(t, x, key), crossCall(t, key, x), selfCall(t, x),
			} {
				b := layers.NewBuild(p, layers.Eval)
				in := call(b)
				_, err := l.Attend(b, in)
				T := in.Query.Shape()[0]
				switch {
				case needs && align == mask.Square && in.Key != nil:
					require.ErrorContains(t, err, "layers: Attention: Align, for the positions of queries: got T=", name)
				case needs && align == mask.LowerRight && in.Key != nil && T == 7:
					require.EqualError(t, err,
						"layers: Attention: Align, for the positions of queries: got T=7 and S=3 with lower_right, want S ≥ T", name)
				case name == "forget" && align == mask.UpperLeft && in.Key != nil:
					require.ErrorContains(t, err, `layers: Attention: Align: got "upper_left" for `)
				default:
					require.NoError(t, err, "%s, %v", name, align)
				}
			}
		}
	}
}
