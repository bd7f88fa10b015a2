package layers_test

import (
	"fmt"
	"testing"

	"attention/graph"
	"attention/internal/dense"
	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// attendChunks gives a layer the input of a case (B, T, E) in chunks of some lengths from start on, with a cache, and
// requires the rows of the whole.
func attendChunks(t *testing.T, want torchCase, attend func(*layers.Build, layers.AttentionInput) (*G.Node, error),
	p *layers.Params, cache layers.AttentionCache, whole []float64, start int, lengths ...int,
) {
	t.Helper()
	shape, x := want.file.Shape(want.prefix+"x"), want.file.Float64(want.prefix+"x")
	T, E := shape[1], shape[2]
	for from, i := start, start; from < T; i++ {
		n := min(lengths[i%len(lengths)], T-from)
		rows := func(x []float64) []float64 { return columns(x, T*E, from*E, (from+n)*E) }
		b := layers.NewBuild(p, layers.Eval)
		y := b.Of(attend(b, layers.AttentionInput{Query: input(t, b, "x", golden.Dense(want.dt, rows(x), shape[0], n, E)),
			Cache: cache, Start: input(t, b, "start", tensor.New(tensor.FromScalar(from)))}))
		require.NoError(t, b.Err())
		golden.Close(t, fmt.Sprint("tokens from ", from), rows(whole), values(t, y)[0], want.tol, want.tol)
		from += n
		require.Equal(t, from, cache.Len())
	}
}

// With a cache, which holds latents and rotary keys and grows, chunks of any lengths give the outputs of the whole
// sequence: from the queries and latents alone. Another text may follow from any token on.
func TestLatentCache(t *testing.T) {
	eachLatent(t, func(t *testing.T, want torchCase, l *layers.Attention, p *layers.Params) {
		cache := must(l.NewCache(graph.KVCacheConfig{Batch: 2, Capacity: 9, Room: 2}))
		token := 2 * (7 + 4) * int(want.dt.Size()) // of two sequences
		require.Equal(t, 2*token, cache.Bytes())
		whole := want.file.Float64(want.prefix + "out")
		attendChunks(t, want, l.Attend, p, cache, whole, 0, 1, 3, 1, 2)
		require.Equal(t, 9*token, cache.Bytes())
		require.NoError(t, cache.Truncate(3))
		attendChunks(t, want, l.Attend, p, cache, whole, 3, 1, 3, 1, 2)
		cache.Reset()
		attendChunks(t, want, l.Attend, p, cache, whole, 0, 1, 3, 1, 2)
	})
}

// wholeOutput is the layer's output for the case's input, without a cache.
func wholeOutput(
	t *testing.T, want torchCase, l *layers.Attention, b *layers.Build, in layers.AttentionInput,
) []float64 {
	t.Helper()
	in.Query = input(t, b, "x", want.load("x"))
	y := b.Of(l.Attend(b, in))
	require.NoError(t, b.Err())
	return values(t, y)[0]
}

// Adapters and weights that are stored in bfloat16 serve the cached form as they serve the whole sequence.
func TestLatentCacheOfOtherWeights(t *testing.T) {
	eachLatent(t, func(t *testing.T, want torchCase, l *layers.Attention, p *layers.Params) {
		if want.dt == tensor.Float32 {
			for name, v := range p.All() {
				if v.Dims() == 2 {
					stored := make([]dense.BFloat16, v.Shape().TotalSize())
					for i, x := range v.Float32s() {
						stored[i] = dense.BFloat16(safetensors.BFloat16(x))
					}
					require.NoError(t, p.Keep(name, of(stored, v.Shape()...)))
				}
			}
		} else {
			require.NoError(t, p.AddLoRA(layers.LoRAConfig{Rank: 2, Alpha: 6}))
			for name, v := range p.All() {
				if p.IsAdapter(name) {
					require.NoError(t, p.Set(name, p.Draw(layers.Normal(0, 0.3), v.Shape()...)))
				}
			}
		}
		whole := wholeOutput(t, want, l, layers.NewBuild(p, layers.Eval), layers.AttentionInput{})
		require.NotEqual(t, whole, want.file.Float64(want.prefix+"out"))
		attendChunks(t, want, l.Attend, p, must(l.NewCache(graph.KVCacheConfig{Batch: 2, Capacity: 9})), whole, 0, 1, 3, 1, 2)
	})
}

// latentDecoder has latent layers, and one of full attention.
func latentDecoder() layers.DecoderConfig {
	c := tinyDecoder()
	full := c.Blocks[0]
	latent := full
	a := &latent.Attention
	a.NumKVHeads, a.HeadDim, a.QKVBias = 0, 0, false
	a.Latent = &layers.LatentConfig{QLoraRank: 5, KVLoraRank: 6, QKNopeHeadDim: 2}
	c.Blocks, c.Pattern, c.NumLayers = []layers.BlockConfig{latent, full}, []int{0, 0, 1}, 3
	return c
}

// A decoder may have latent layers by its pattern, with the sizes of the block's attention.
func TestDecoderOfLatentLayers(t *testing.T) {
	c := latentDecoder()
	requireRoundTrip(t, c)
	m, p := newDecoder(t, tensor.Float64, c)
	c.Blocks[0].Attention.Latent.KVLoraRank = 1
	require.Equal(t, latentDecoder(), m.Config(), "the model keeps its config")
	requireDeclared(t, p, layers.NewDecoder, m.Config())
	latent, full := m.Config().Block(0), m.Config().Block(2) // of 6 heads, P and R 2; of 2 heads, D 2
	require.Equal(t, []int{6 + 2, 2 * 2 * 2}, []int{latent.CacheWidth(), full.CacheWidth()})
	b := layers.NewBuild(p, layers.Eval)
	must(m.Forward(b, input(t, b, "ids", sequences(2, 11))))
	require.Len(t, b.Calls("model.layers.*.self_attn"), 3)
	require.Equal(t, 6*(2+2), must(b.Calls("*")[1].Operands()).Key.Shape()[2])
}
