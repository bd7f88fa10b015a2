package layers_test

import (
	"slices"
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// attended runs a layer by both forms, which must agree, and returns the output and
// the weights.
func attended(t *testing.T, p *layers.Params, l *layers.Attention, call func(b *layers.Build) layers.AttentionInput) (out, weights []float64) {
	t.Helper()
	b := layers.NewBuild(p, layers.Eval)
	o, err := l.Attend(b, call(b))
	require.NoError(t, err)
	fused := values(t, o)[0]
	b = layers.NewBuild(p, layers.Eval)
	o, w, err := attendObserved(b, l, call(b))
	require.NoError(t, err)
	both := values(t, o, w)
	require.InDeltaSlice(t, both[0], fused, 1e-13)
	return both[0], both[1]
}

// selfCall calls an Attention with x alone, crossCall with keys too.
func selfCall(t *testing.T, x *tensor.Dense) func(b *layers.Build) layers.AttentionInput {
	return func(b *layers.Build) layers.AttentionInput {
		return layers.AttentionInput{Query: input(t, b, "x", x)}
	}
}

func crossCall(t *testing.T, x, key *tensor.Dense) func(b *layers.Build) layers.AttentionInput {
	return func(b *layers.Build) layers.AttentionInput {
		return layers.AttentionInput{Query: input(t, b, "x", x), Key: input(t, b, "key", key)}
	}
}

// One key takes all the weight, whatever the scores: the output is that of the values
// alone.
func TestAttentionToOneKey(t *testing.T) {
	p, l := newAttention(t, tensor.Float64, but(plainAttention, func(c *layers.AttentionConfig) {
		c.QKVBias, c.OutBias, c.RoPE, c.Softcap, c.QKNorm = true, true, &graph.RoPEConfig{}, 2, layers.RMSNorm
		c.ALiBi, c.RelativeBias, c.Align = true, &layers.RelativeBiasConfig{}, mask.UpperLeft
	}))
	key := numbers(tensor.Float64, 2, 1, 5)
	one, weights := attended(t, p, l, selfCall(t, key))
	require.Equal(t, []float64{1, 1, 1, 1, 1, 1}, weights)
	out, weights := attended(t, p, l, crossCall(t, numbers(tensor.Float64, 2, 7, 5), key))
	require.Len(t, weights, 2*3*7)
	for i, w := range weights {
		require.Equal(t, 1.0, w)
		if i < 2*7 {
			require.InDeltaSlice(t, one[i/7*5:][:5], out[i*5:][:5], 1e-14)
		}
	}
}

// Grouped attention is attention with each key/value head as often as its query heads
// want it.
func TestGroupedHeadsAreSharedHeads(t *testing.T) {
	for _, kv := range []int{1, 2, 3} {
		p, grouped := newAttention(t, tensor.Float64, layers.AttentionConfig{EmbedDim: 5, NumHeads: 6, NumKVHeads: kv, HeadDim: 4, ValueDim: 3, QKVBias: true})
		state, err := grouped.State(layers.Llama)
		require.NoError(t, err)
		for name, width := range map[string]int{"k_proj": 4, "v_proj": 3} {
			for _, of := range []string{".weight", ".bias"} {
				state[name+of] = repeatBlocks(state[name+of], width, 6/kv)
			}
		}
		q, all := newAttention(t, tensor.Float64, layers.AttentionConfig{EmbedDim: 5, NumHeads: 6, HeadDim: 4, ValueDim: 3, QKVBias: true})
		require.NoError(t, all.SetState(layers.Llama, state))
		x := numbers(tensor.Float64, 2, 7, 5)
		want, wantWeights := attended(t, q, all, selfCall(t, x))
		got, weights := attended(t, p, grouped, selfCall(t, x))
		require.InDeltaSlice(t, want, got, 1e-14)
		require.InDeltaSlice(t, wantWeights, weights, 1e-14)
	}
}

// repeatBlocks repeats each block of n rows, n = rows.
func repeatBlocks(v *tensor.Dense, rows, times int) *tensor.Dense {
	shape := slices.Clone(v.Shape())
	size := rows * v.Shape().TotalSize() / shape[0]
	var repeated []float64
	for block := range slices.Chunk(v.Data().([]float64), size) {
		for range times {
			repeated = append(repeated, block...)
		}
	}
	shape[0] *= times
	return golden.Dense(tensor.Float64, repeated, shape...)
}

// An Eval graph has no dropout; a Train graph has one for each probability, and both
// forms drop the same.
func TestDropoutsOfAttention(t *testing.T) {
	for _, c := range []struct {
		weights, context, out float64
		want                  int
	}{{0, 0, 0, 0}, {0.5, 0, 0, 1}, {0, 0.5, 0, 1}, {0, 0, 0.5, 1}, {0.5, 0.25, 0.125, 3}} {
		p, l := newAttention(t, tensor.Float64, but(plainAttention, func(config *layers.AttentionConfig) {
			config.Dropout, config.ContextDropout, config.OutDropout = c.weights, c.context, c.out
		}))
		x := numbers(tensor.Float64, 2, 7, 5)
		for _, mode := range []layers.Mode{layers.Eval, layers.Train} {
			b := layers.NewBuild(p, mode)
			in := selfCall(t, x)(b)
			out, weights, err := attendObserved(b, l, in)
			require.NoError(t, err)
			dropouts := 0
			for _, n := range b.Graph().AllNodes() {
				if n.Op() != nil && strings.HasPrefix(n.Op().String(), "Dropout") {
					dropouts++
				}
			}
			if mode == layers.Eval {
				require.Zero(t, dropouts)
				require.Nil(t, b.DropoutKey())
				continue
			}
			require.Equal(t, c.want, dropouts)
			if c.want == 0 {
				continue
			}
			require.NoError(t, G.Let(b.DropoutKey(), G.NewI64(42)))
			composed := values(t, out, weights)
			require.Equal(t, c.weights > 0, slices.Contains(composed[1], 0))
			require.Equal(t, c.out > 0, slices.Contains(composed[0], 0))
			b = layers.NewBuild(p, mode)
			out, err = l.Attend(b, selfCall(t, x)(b))
			require.NoError(t, err)
			require.NoError(t, G.Let(b.DropoutKey(), G.NewI64(42)))
			require.InDeltaSlice(t, composed[0], values(t, out)[0], 1e-14)
		}
	}
}

// Where the queries stand among the keys: by Align or by positions, which for as many
// queries as keys are 0, 1, … for both; only distances count.
func TestPositionsOfRoPE(t *testing.T) {
	p, lowerRight := newAttention(t, tensor.Float64, but(plainAttention, func(c *layers.AttentionConfig) {
		c.RoPE, c.Align = &graph.RoPEConfig{}, mask.LowerRight
	}))
	square, err := layers.NewAttention(p.Scope("square"), but(plainAttention, func(c *layers.AttentionConfig) { c.RoPE = &graph.RoPEConfig{} }))
	require.NoError(t, err)
	state, err := lowerRight.State(layers.Book)
	require.NoError(t, err)
	require.NoError(t, square.SetState(layers.Book, state))
	x, key := numbers(tensor.Float64, 2, 3, 5), numbers(tensor.Float64, 2, 7, 5)
	at := func(call func(*layers.Build) layers.AttentionInput, positions, keyPositions any) func(b *layers.Build) layers.AttentionInput {
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

// Positions in a sequence need to be known; a plain mask or none needs them not.
func TestWhoNeedsAnAlignment(t *testing.T) {
	for name, change := range map[string]func(c *layers.AttentionConfig){
		"rope":     func(c *layers.AttentionConfig) { c.RoPE = &graph.RoPEConfig{} },
		"alibi":    func(c *layers.AttentionConfig) { c.ALiBi = true },
		"t5":       func(c *layers.AttentionConfig) { c.RelativeBias = &layers.RelativeBiasConfig{} },
		"none":     func(*layers.AttentionConfig) {},
		"extra":    func(c *layers.AttentionConfig) { c.AddBiasKV, c.AddZeroAttn = true, true },
		"t5 extra": func(c *layers.AttentionConfig) { c.RelativeBias, c.AddZeroAttn = &layers.RelativeBiasConfig{}, true },
	} {
		for _, align := range []mask.Alignment{mask.Square, mask.UpperLeft, mask.LowerRight} {
			p, l := newAttention(t, tensor.Float64, but(plainAttention, func(c *layers.AttentionConfig) {
				change(c)
				c.Align = align
			}))
			x, key := numbers(tensor.Float64, 7, 5), numbers(tensor.Float64, 3, 5)
			needs := name != "none" && name != "extra"
			for _, call := range []func(*layers.Build) layers.AttentionInput{crossCall(t, x, key), crossCall(t, key, x), selfCall(t, x)} {
				b := layers.NewBuild(p, layers.Eval)
				in := call(b)
				_, err := l.Attend(b, in)
				T := in.Query.Shape()[0]
				switch {
				case needs && align == mask.Square && in.Key != nil:
					require.ErrorContains(t, err, "layers: Attention: Align, for the positions of queries: got T=", name)
				case needs && align == mask.LowerRight && in.Key != nil && T == 7:
					require.EqualError(t, err, "layers: Attention: Align, for the positions of queries: got T=7 and S=3 with lower_right, want S ≥ T", name)
				default:
					require.NoError(t, err, "%s, %v", name, align)
				}
			}
		}
	}
}
