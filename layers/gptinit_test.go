package layers_test

import (
	"maps"
	"strings"
	"testing"

	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// bookConfig is the small model of testdata/torch/book_train.py.
func bookConfig() layers.GPTConfig {
	return layers.GPTConfig{VocabSize: 256, ContextLength: 64, EmbedDim: 128, NumLayers: 4, NumHeads: 4,
		Activation: "gelu_new", Bias: true, QKVBias: new(false), Initializer: layers.TorchInitializer}
}

// With the initializer torch a GPT begins as PyTorch's modules do, to the bit.
func TestGPTBeginsAsTorch(t *testing.T) {
	file := golden.Load(t, "torch/book_train.safetensors")
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		p := layers.NewParams(dt, 123)
		must(layers.NewGPT(p.Scope(""), bookConfig()))
		values, seen := maps.Collect(p.All()), 0
		for _, key := range file.Names() {
			name, ok := strings.CutPrefix(key, dt.String()+".before.")
			if !ok {
				continue
			}
			seen++
			if dt == tensor.Float64 {
				want := file.Float64(key)
				require.Equal(t, want, values[name].Float64s()[:len(want)], key)
			} else {
				want := file.Float32(key)
				require.Equal(t, want, values[name].Float32s()[:len(want)], key)
			}
		}
		require.Equal(t, 7, seen)
	}
}

// Biases of queries, keys and values are drawn as those of three linear layers, one after the other.
func TestGPTBeginsAsTorchWithBiases(t *testing.T) {
	c := layers.GPTConfig{VocabSize: 11, ContextLength: 7, EmbedDim: 12, NumLayers: 2, NumHeads: 3, NumKVHeads: 1,
		Bias: true, Initializer: layers.TorchInitializer}
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		p, modules := layers.NewParams(dt, 5), layers.NewParams(dt, 5)
		must(layers.NewGPT(p.Scope(""), c))
		got := maps.Collect(p.All())
		table := func(name string, rows int) {
			must(layers.NewEmbedding(modules.Scope(name), layers.EmbeddingConfig{NumEmbeddings: rows, EmbeddingDim: 12}))
		}
		linear := func(name string, in, out int) {
			must(layers.NewLinear(modules.Scope(name), layers.LinearConfig{InFeatures: in, OutFeatures: out, Bias: true}))
		}
		table("tokens", 11)
		table("positions", 7)
		for _, block := range []string{"0", "1"} {
			linear(block+".q", 12, 12)
			linear(block+".k", 12, 4)
			linear(block+".v", 12, 4)
			linear(block+".proj", 12, 12)
			linear(block+".fc", 12, 48)
			linear(block+".out", 48, 12)
		}
		want := maps.Collect(modules.All())
		for _, block := range []string{"0", "1"} {
			name := "transformer.h." + block
			weight, bias := got[name+".attn.c_attn.weight"], got[name+".attn.c_attn.bias"]
			from := 0
			for _, part := range []string{".q", ".k", ".v"} {
				w, b := want[block+part+".weight"], want[block+part+".bias"] // (out, in), (out)
				for i := range w.Shape()[0] {
					require.Equal(t, at(t, b, i), at(t, bias, from+i), "%s, %v", part, dt)
					for j := range w.Shape()[1] {
						require.Equal(t, at(t, w, i, j), at(t, weight, j, from+i), "%s, %v", part, dt)
					}
				}
				from += w.Shape()[0]
			}
			require.Equal(t, want[block+".out.bias"].Data(), got[name+".mlp.c_proj.bias"].Data())
		}
	}
}

// at returns an element of a tensor.
func at(t *testing.T, d *tensor.Dense, i ...int) any {
	return must(d.At(i...))
}

// The initializer changes no names and shapes, only where QKVBias says so; blank parameters
// stay 0.
func TestGPTInitializer(t *testing.T) {
	c := bookConfig()
	c.QKVBias = nil
	torch := must(layers.Declare(layers.NewGPT, c))
	c.Initializer = ""
	gpt2 := must(layers.Declare(layers.NewGPT, c))
	require.Equal(t, maps.Collect(gpt2.Shapes()), maps.Collect(torch.Shapes()))
	bare := must(layers.Declare(layers.NewGPT, bookConfig()))
	require.Equal(t, gpt2.Len()-4, bare.Len())
	for name := range bare.Shapes() {
		require.NotContains(t, name, "c_attn.bias")
	}
	c.Bias, c.QKVBias = false, new(true)
	for name := range must(layers.Declare(layers.NewGPT, c)).Shapes() {
		require.Equal(t, strings.HasSuffix(name, "c_attn.bias"), strings.HasSuffix(name, ".bias"), name)
	}

	blank := layers.NewBlankParams(tensor.Float32)
	must(layers.NewGPT(blank.Scope(""), bookConfig()))
	for name, v := range blank.All() {
		require.Equal(t, make([]float32, v.Size()), v.Float32s(), name)
	}
	p := layers.NewParams(tensor.Float32, 1)
	must(layers.NewGPT(p.Scope("a"), bookConfig()))
	v := must(p.Scope("").Param("after", layers.Normal(0, 1), 2))
	require.NotZero(t, v.Value().Float32s()[0], "what is made after the model is drawn as before")

	c.Initializer = "keras"
	require.EqualError(t, c.Validate(), `layers: GPT: Initializer: got "keras", want one of gpt2, torch`)
}
