package generate_test

import (
	"fmt"
	"testing"

	"attention/layers"
	"attention/layers/generate"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// gpt2Small is GPT-2 with 124 million parameters.
var gpt2Small = layers.GPTConfig{VocabSize: 50257, ContextLength: 1024, EmbedDim: 768, NumLayers: 12, NumHeads: 12,
	Activation: "gelu_new", TieWordEmbeddings: true, Bias: true}

// BenchmarkToken times one more token of GPT-2 small after n others: the cost hardly
// depends on n.
func BenchmarkToken(b *testing.B) {
	p := layers.NewBlankParams(tensor.Float32)
	m, err := layers.NewGPT(p.Scope(""), gpt2Small)
	require.NoError(b, err)
	for _, v := range p.All() {
		state, data := uint32(1), v.Float32s()
		for i := range data {
			state = state*1664525 + 1013904223
			data[i] = (float32(state>>8)/(1<<24) - 0.5) * 0.07
		}
	}
	g, err := generate.New(m, generate.Config{})
	require.NoError(b, err)
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("after%d", n), func(b *testing.B) {
			again := func() {
				b.StopTimer()
				g.Reset()
				require.NoError(b, g.Prompt(ctx, ids(n, 50257)))
				_, err := g.Next(ctx) // of the prompt's own scores
				require.NoError(b, err)
				b.StartTimer()
			}
			again()
			for i := range b.N {
				if i%20 == 19 {
					again()
				}
				_, err := g.Next(ctx)
				require.NoError(b, err)
			}
		})
	}
}
