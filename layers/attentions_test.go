package layers_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/graph"
	"attention/internal/golden"
	"attention/layers"
	"attention/layers/gradcases"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// eachAttention calls f for every row of the table of attentions.
func eachAttention(t *testing.T, f func(t *testing.T, a gradcases.Attention)) {
	for _, a := range gradcases.Attentions() {
		t.Run(a.About, func(t *testing.T) { f(t, a) })
	}
}

// rowOf returns the layer of a row, with parameters that are not 0.
func rowOf(t *testing.T, a gradcases.Attention, dt tensor.Dtype) (*layers.Params, *layers.Attention) {
	p, l := newAttention(t, dt, a.Config)
	for name, v := range p.All() {
		require.NoError(t, p.Set(name, p.Draw(layers.Uniform(-0.5, 0.5), v.Shape()...)))
	}
	return p, l
}

// inputOf adds a row's inputs to a build.
func inputOf(t *testing.T, a gradcases.Attention, b *layers.Build) (in layers.AttentionInput, wrt G.Nodes) {
	in, wrt, err := a.Call(b, rand.New(rand.NewPCG(3, 4)))
	require.NoError(t, err)
	return in, wrt
}

// The output, the weights and the parameters have the expected shapes, and the layer has the parameters that its config
// declares.
func TestAttentionsHaveTheirShapes(t *testing.T) {
	eachAttention(t, func(t *testing.T, a gradcases.Attention) {
		p, l := newAttention(t, tensor.Float32, a.Config)
		requireDeclared(t, p, layers.NewAttention, a.Config)
		b := layers.NewBuild(p, layers.Eval)
		in, _ := inputOf(t, a, b)
		out, weights := b.Of(l.Attend(b, in)), b.Of(l.Weights(b, in))
		require.NoError(t, b.Err())
		require.Nil(t, b.DropoutKey(), "an Eval graph drops nothing")
		c, want, keys := a.Config, in.Query.Shape().Clone(), in.Query
		if in.Key != nil {
			keys = in.Key
		}
		n := len(want) - 1
		want[n] = c.EmbedDim
		if c.OutDim > 0 {
			want[n] = c.OutDim
		} else if c.ContextOnly {
			want[n] = c.NumHeads * c.HeadDim
		}
		require.Equal(t, want, out.Shape())
		want = append(want[:n-1:n-1], c.NumHeads, want[n-1], keys.Shape()[n-1]+added(c))
		require.Equal(t, want, weights.Shape())
	})
}

// added is the number of keys that a config adds.
func added(c layers.AttentionConfig) (n int) {
	for _, one := range []bool{c.AddBiasKV, c.AddZeroAttn} {
		if one {
			n++
		}
	}
	return n
}

// The fused form, with and without statistics, and the composed form give the same output, weights and gradients for
// the same dropout, whether the output or the weights are built first. Statistics change no bit, except for sparse
// attention, which then reads all keys.
func TestFormsOfAttentionsAgree(t *testing.T) {
	eachAttention(t, func(t *testing.T, a gradcases.Attention) {
		p, l := rowOf(t, a, tensor.Float64)
		dropouts := 0
		for _, p := range []float64{a.Config.Dropout, a.Config.ContextDropout, a.Config.OutDropout} {
			if p > 0 {
				dropouts++
			}
		}
		run := func(change func(b *layers.Build), weightsFirst bool) [][]float64 {
			b := layers.NewBuild(p, layers.Train)
			change(b)
			in, wrt := inputOf(t, a, b)
			if weightsFirst {
				b.Of(l.Weights(b, in))
				require.Empty(t, b.Calls("*"), "not called yet")
			}
			out := b.Of(l.Attend(b, in))
			softmaxes := ops(b, "Softmax")
			require.Equal(t, b.Composes(""), ops(b, "FusedAttention") == 0)
			require.True(t, b.Composes("") || weightsFirst || softmaxes == 0, "the fused form never holds the weights")
			weights := b.Of(l.Weights(b, in))
			require.NoError(t, b.Err())
			require.True(t, !b.Composes("") || softmaxes == ops(b, "Softmax"), "the output is made of these weights")
			require.Len(t, b.Calls("*"), 1)
			require.Equal(t, dropouts, ops(b, "Dropout"))
			if key := b.DropoutKey(); key != nil {
				require.NoError(t, G.Let(key, G.NewI64(7)))
			}
			grads := must(G.Backpropagate(G.Nodes{out}, G.Nodes{input(t, b, "dout",
				golden.Numbers(tensor.Float64, out.Shape()...))}, append(wrt, b.Learnables()...)))
			return values(t, append(G.Nodes{out, weights}, grads...)...)
		}
		plain := func(*layers.Build) {}
		fused, observed := run(plain, false), run(func(b *layers.Build) { b.Observe("*") }, false)
		require.Equal(t, fused, run(plain, true))
		require.True(t, a.Config.OutDropout == 0 || slices.Contains(fused[0], 0))
		if a.Config.Sparse == nil {
			require.Equal(t, fused, observed)
		}
		for i, want := range run(func(b *layers.Build) { b.Compose("*") }, false) {
			golden.Close(t, "output and gradients", want, fused[i], 1e-11, 1e-11)
			golden.Close(t, "output and gradients, with statistics", want, observed[i], 1e-11, 1e-11)
		}
	})
}

// Statistics are those of the weights before dropout, in both modes, observed or not; they can be computed from the
// operands of the call.
func TestStatsAndOperandsOfAttentions(t *testing.T) {
	eachAttention(t, func(t *testing.T, a gradcases.Attention) {
		c := a.Config
		p, l := rowOf(t, a, tensor.Float64)
		var eval, outs [][]float64 // statistics, and the output in each mode
		for _, mode := range []layers.Mode{layers.Eval, layers.Eval, layers.Train, layers.Train} {
			b := layers.NewBuild(p, mode)
			if len(outs)%2 == 1 {
				b.Observe("*")
			}
			in, _ := inputOf(t, a, b)
			out := b.Of(l.Attend(b, in))
			call := b.Calls("*")[0]
			o := must(call.Operands())
			require.Zero(t, o.Config.Dropout)
			_, weights, err := graph.Attention(o.Query, o.Key, o.Value, o.Config)
			require.NoError(t, err)
			r, err := graph.FusedAttention(graph.FusedInputs{Query: o.Query, Key: o.Key, Value: o.Value, Stats: true}, o.Config)
			require.NoError(t, err)
			nodes := append(statsOf(t, call), weights, r.Stats.Entropy, out)
			if key := b.DropoutKey(); key != nil {
				require.NoError(t, G.Let(key, G.NewI64(7)))
			}
			got := values(t, nodes...)
			if outs = append(outs, got[8]); eval == nil {
				eval = got
			}
			require.Equal(t, eval[1:8], got[1:8], mode)
			require.InDeltaSlice(t, got[1], got[7], 1e-12, "entropy")
			turned := c.RoPE != nil || c.QKNorm != "" || c.Latent != nil
			require.Equal(t, turned, o.ProjectedQuery != o.Query)
			require.Equal(t, turned || added(c) > 0, o.ProjectedKey != o.Key)
			if mode == layers.Eval && c.Differential == nil {
				require.InDeltaSlice(t, got[0], got[6], 1e-12, "weights")
				if a.OfX() && !c.Sigmoid {
					sumsUp(t, nodes[0].Shape(), got, added(c))
				}
			}
		}
		if c.Sparse == nil { // its bits depend on whether there are statistics
			require.Equal(t, outs[0], outs[1])
			require.Equal(t, outs[2], outs[3])
		}
	})
}

// Outputs and gradients in bfloat16 are near those in float32, but not equal.
func TestAttentionsInBFloat16(t *testing.T) {
	t.Setenv("ATTENTION_BF16", "emulated")
	eachAttention(t, func(t *testing.T, a gradcases.Attention) {
		var all [2][][]float64
		for i, precision := range []graph.Precision{graph.FullPrecision, graph.BFloat16} {
			p, l := rowOf(t, a, tensor.Float32)
			b := layers.NewBuild(p, layers.Eval)
			b.SetPrecision(precision)
			in, wrt := inputOf(t, a, b)
			if a.OfX() && a.Config.Sparse == nil { // rounding may change which blocks are chosen
				in.Query = input(t, b, "x", randomDense(rand.New(rand.NewPCG(1, 2)), tensor.Float32, 2, 37, 5))
				wrt = G.Nodes{in.Query}
			}
			out := b.Of(l.Attend(b, in))
			require.NoError(t, b.Err())
			dout := input(t, b, "dout", golden.Numbers(tensor.Float32, out.Shape()...))
			grads := must(G.Backpropagate(G.Nodes{out}, G.Nodes{dout}, append(wrt, b.Learnables()...)))
			all[i] = values(t, append(G.Nodes{out}, grads...)...)
		}
		far, size := 0.0, 0.0
		for i, exact := range all[0] {
			for j, v := range exact {
				far, size = math.Hypot(far, v-all[1][i][j]), math.Hypot(size, v)
			}
		}
		require.NotEqual(t, all[0], all[1])
		require.LessOrEqual(t, far, 0.03*size)
	})
}

// A config is the same after writing and reading its JSON, except for functions.
func TestAttentionsGoThroughJSON(t *testing.T) {
	eachAttention(t, func(t *testing.T, a gradcases.Attention) {
		if a.JSON == "" {
			requireRoundTrip(t, a.Config)
			return
		}
		_, err := json.Marshal(a.Config)
		require.ErrorContains(t, err, a.JSON)
	})
}

// Rows with several texts give the loss and the gradients of texts in separate rows, wherever that is possible.
func TestPackedAttentions(t *testing.T) {
	eachAttention(t, func(t *testing.T, a gradcases.Attention) {
		if !a.OfX() {
			return
		}
		a.Config.Layout = "" // the decoder needs this itself
		a.Config.Dropout, a.Config.ContextDropout, a.Config.OutDropout = 0, 0, 0
		c := tinyDecoder()
		c.Blocks, c.Pattern, c.NumLayers = []layers.BlockConfig{{Attention: a.Config}}, nil, 1
		if a.Packed == "" {
			testPacked(t, c)
			return
		}
		p := layers.NewParams(tensor.Float64, 1)
		m, err := layers.NewDecoder(p.Scope(""), c)
		if err == nil {
			require.False(t, c.SharesRows())
			b := layers.NewBuild(p, layers.Eval)
			ids := b.InputOf(tensor.Int, "ids", 2, 5)
			_, err = m.PackedLoss(b, ids, ids, layers.Packing{Segments: ids, Positions: ids})
		}
		require.ErrorContains(t, err, a.Packed)
	})
}
