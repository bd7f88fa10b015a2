package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBenchFlop(t *testing.T) {
	for _, c := range []struct {
		w                 work
		forward, backward int
	}{
		// One token: four projections of one number, a score and a context (2 each);
		// four weight gradients, dcontext, and four of attention.
		{w: work{Batch: 1, Tokens: 1, EmbedDim: 1, NumHeads: 1, Causal: true}, forward: 4*2 + 2 + 2, backward: 4*2 + 2 + 4*2},
		// Two tokens see 1 + 2 = 3 keys: 4·16 + 3·(4+4); 4·16 + 16 + 3·16.
		{w: work{Batch: 1, Tokens: 2, EmbedDim: 2, NumHeads: 1, Causal: true}, forward: 88, backward: 128},
		// Without a mask they see 4.
		{w: work{Batch: 1, Tokens: 2, EmbedDim: 2, NumHeads: 1}, forward: 96, backward: 144},
		// Two heads of width 2 that share keys and values: projections of 4·4, 4·2, 4·2
		// and 4·4 products, a pair for each head.
		{w: work{Batch: 1, Tokens: 1, EmbedDim: 4, NumHeads: 2, NumKVHeads: 1, Causal: true}, forward: 2*48 + 2*2*4,
			backward: 2*48 + 2*16 + 2*2*8},
		{w: work{Batch: 32, Tokens: 32, EmbedDim: 64, NumHeads: 4, Causal: true}, forward: 33554432 + 4325376,
			backward: 33554432 + 8388608 + 8650752},
		// GPT-2 small: 4·2·2048·768² and 4·64 for each of 2·12·1024·1025/2 pairs.
		{w: work{Batch: 2, Tokens: 1024, EmbedDim: 768, NumHeads: 12, Causal: true}, forward: 9663676416 + 3224371200,
			backward: 9663676416 + 2415919104 + 6448742400},
	} {
		c.w.Mode = forwardOnly
		require.Equal(t, c.forward, c.w.flop(), "%+v", c.w)
		c.w.Mode = forwardBackward
		require.Equal(t, c.forward+c.backward, c.w.flop(), "%+v", c.w)
	}
}

// A step of a GPT of one block and one token: 4 projections, 8 products of the MLP, score
// and context, and the scores of 65 tokens or 7; then twice that for the gradients.
func TestBenchStepFlop(t *testing.T) {
	w := work{Batch: 1, Tokens: 1, EmbedDim: 1, NumHeads: 1, NumLayers: 1, VocabSize: 65, Causal: true, Mode: gptStep}
	require.Equal(t, 3*2*(4+8+2+65), w.flop())
	w.NumLayers = 3
	require.Equal(t, 3*2*(3*(4+8+2)+65), w.flop())
	w.VocabSize = 7
	require.Equal(t, 3*2*(3*(4+8+2)+7), w.flop())
}

// The operations of the largest works fit an int.
func TestBenchSizesFitAnInt(t *testing.T) {
	for _, w := range []work{
		{Batch: 1, Tokens: 1 << 15, EmbedDim: 1 << 15, NumHeads: 1, Causal: true},
		{Batch: 1, Tokens: maxSize, EmbedDim: 64, NumHeads: 64, Causal: true},
		{Batch: maxSize, Tokens: 64, EmbedDim: 1, NumHeads: 1, Causal: true},
	} {
		w.Mode, w.Dtype = forwardBackward, "float64"
		require.NoError(t, w.validate())
		rows, e, n := float64(w.Batch*w.Tokens), float64(w.EmbedDim), float64(w.Tokens)
		require.InEpsilon(t, 18*rows*e*e+6*rows*(n+1)*e, float64(w.flop()), 1e-12, w.name())
	}
}

// A child's flags choose the same work again.
func TestBenchFlagsMakeTheWork(t *testing.T) {
	works := map[string]bool{}
	for _, w := range standardWorks() {
		w.Dtype = "float32"
		require.NoError(t, w.validate())
		require.False(t, works[w.name()], "%s comes twice", w.name())
		works[w.name()] = true
	}
	require.Len(t, works, 10)
	require.Contains(t, works, "B12 T64 E128 H4 L4 gpt-step")
	require.Contains(t, works, "B32 T32 E64 H4 forward-backward")
	require.Contains(t, works, "B1 T4096 E768 H12 forward-backward")

	w := work{Batch: 3, Tokens: 5, EmbedDim: 12, NumHeads: 4, NumKVHeads: 2, Mode: forwardOnly, Dtype: "float64"}
	require.Equal(t, "B3 T5 E12 H4 K2 no-causal float64 forward", w.name())
	f := New().Flags()
	require.NoError(t, f.Parse(w.flags()))
	for name, want := range map[string]string{"batch": "3", "tokens": "5", "width": "12", "heads": "4", "kv-heads": "2",
		"no-causal": "true", "mode": "forward", "dtype": "float64"} {
		require.Equal(t, want, f.Lookup(name).Value.String(), name)
	}
	require.NoError(t, w.heeds(f.Changed))
	w.Mode, w.NumLayers, w.VocabSize = gptStep, 2, 7
	require.NoError(t, f.Parse(w.flags()))
	require.Equal(t, []string{"2", "7"}, []string{f.Lookup("layers").Value.String(), f.Lookup("vocab").Value.String()})
	for _, name := range sizeFlags {
		require.True(t, f.Changed(name), "--%s makes a work", name)
	}
}
