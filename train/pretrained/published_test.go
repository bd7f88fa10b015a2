package pretrained_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"attention/graph/machine"
	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/internal/testenv"
	"attention/layers"
	"attention/layers/generate"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// publishedShape is a model that others published.
type publishedShape struct {
	name    string
	config  string
	weights int
	large   bool // only with ATTENTION_TESTS=all
}

// published lists models by the contents of their config.json, with the numbers of their parameters.
var published = []publishedShape{
	{name: "SmolLM2-135M", weights: 134515008, config: `{"architectures": ["LlamaForCausalLM"], "attention_bias": false,
		"attention_dropout": 0.0, "bos_token_id": 0, "eos_token_id": 0, "hidden_act": "silu", "hidden_size": 576,
		"initializer_range": 0.041666666666666664, "intermediate_size": 1536, "is_llama_config": true,
		"max_position_embeddings": 8192, "model_type": "llama", "num_attention_heads": 9, "num_hidden_layers": 30,
		"num_key_value_heads": 3, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_interleaved": false,
		"rope_scaling": null, "rope_theta": 100000, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
		"transformers_version": "4.40.1", "use_cache": true, "vocab_size": 49152}`},
	{name: "gemma-3-270m", weights: 268098176, large: true, config: `{"_sliding_window_pattern": 6,
		"architectures": ["Gemma3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
		"attn_logit_softcapping": null, "bos_token_id": 2, "eos_token_id": 1, "final_logit_softcapping": null,
		"head_dim": 256, "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 640, "initializer_range": 0.02,
		"intermediate_size": 2048, "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention",
		"sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
		"sliding_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention",
		"sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention"],
		"max_position_embeddings": 32768, "model_type": "gemma3_text", "num_attention_heads": 4, "num_hidden_layers": 18,
		"num_key_value_heads": 1, "pad_token_id": 0, "query_pre_attn_scalar": 256, "rms_norm_eps": 1e-06,
		"rope_local_base_freq": 10000.0, "rope_scaling": null, "rope_theta": 1000000.0, "sliding_window": 512,
		"torch_dtype": "bfloat16", "transformers_version": "4.55.0.dev0", "use_bidirectional_attention": false,
		"use_cache": true, "vocab_size": 262144}`},
	{name: "Qwen2.5-0.5B", weights: 494032768, large: true, config: `{"architectures": ["Qwen2ForCausalLM"],
		"attention_dropout": 0.0, "bos_token_id": 151643, "eos_token_id": 151643, "hidden_act": "silu", "hidden_size": 896,
		"initializer_range": 0.02, "intermediate_size": 4864, "max_position_embeddings": 32768, "max_window_layers": 24,
		"model_type": "qwen2", "num_attention_heads": 14, "num_hidden_layers": 24, "num_key_value_heads": 2,
		"rms_norm_eps": 1e-06, "rope_theta": 1000000.0, "sliding_window": 32768, "tie_word_embeddings": true,
		"torch_dtype": "bfloat16", "transformers_version": "4.40.1", "use_cache": true, "use_mrope": false,
		"use_sliding_window": false, "vocab_size": 151936}`},
	{name: "Qwen3-0.6B", weights: 596049920, large: true, config: `{"architectures": ["Qwen3ForCausalLM"],
		"attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 151643, "eos_token_id": 151645, "head_dim": 128,
		"hidden_act": "silu", "hidden_size": 1024, "initializer_range": 0.02, "intermediate_size": 3072,
		"max_position_embeddings": 40960, "max_window_layers": 28, "model_type": "qwen3", "num_attention_heads": 16,
		"num_hidden_layers": 28, "num_key_value_heads": 8, "rms_norm_eps": 1e-06, "rope_scaling": null,
		"rope_theta": 1000000, "sliding_window": null, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
		"transformers_version": "4.51.0", "use_cache": true, "use_sliding_window": false, "vocab_size": 151936}`},
	{name: "Llama-3.2-1B", weights: 1235814400, large: true, config: `{"architectures": ["LlamaForCausalLM"],
		"attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 128000, "eos_token_id": 128001, "head_dim": 64,
		"hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02, "intermediate_size": 8192,
		"max_position_embeddings": 131072, "mlp_bias": false, "model_type": "llama", "num_attention_heads": 32,
		"num_hidden_layers": 16, "num_key_value_heads": 8, "pretraining_tp": 1, "rms_norm_eps": 1e-05,
		"rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
		"original_max_position_embeddings": 8192, "rope_type": "llama3"}, "rope_theta": 500000.0,
		"tie_word_embeddings": true, "torch_dtype": "bfloat16", "transformers_version": "4.45.0.dev0", "use_cache": true,
		"vocab_size": 128256}`},
}

// Models of the published shapes with random weights can be read, continue a text, return the weights of their heads,
// and are written as they were read.
func TestPublishedShapes(t *testing.T) {
	if testing.Short() {
		t.Skip("models of hundreds of millions of weights take seconds")
	}
	for _, of := range published {
		t.Run(of.name, func(t *testing.T) {
			if of.large && !testenv.All {
				t.Skip("only with ATTENTION_TESTS=all")
			}
			if of.weights > 4e8 && os.Getenv("ATTENTION_TESTS_LARGE") == "" {
				t.Skip("takes up to 8 GB of memory: only with ATTENTION_TESTS_LARGE=1")
			}
			dir, out := randomFolder(t, of.config, of.weights, safetensors.BF16), filepath.Join(t.TempDir(), "out")
			g, err := pretrained.ReadGPT(dir)
			require.NoError(t, err)
			require.Equal(t, of.weights, g.Params.Count())
			require.Empty(t, g.Ignored)
			continues(t, g)
			showsHeads(t, g)
			_, err = g.Write(out, pretrained.WriteConfig{Format: pretrained.HuggingFace, ShardSize: 400e6})
			require.NoError(t, err)
			require.Equal(t, sums(t, dir), sums(t, out))
			text, err := os.ReadFile(filepath.Join(out, "config.json"))
			require.NoError(t, err)
			require.Equal(t, of.config, string(text))
		})
	}
}

// TestWritePublishedShape writes a shape to a new folder, for testdata/chain.
func TestWritePublishedShape(t *testing.T) {
	for _, of := range published {
		if of.name == os.Getenv("PUBLISHED_SHAPE") {
			dir := randomFolder(t, of.config, of.weights, safetensors.BF16)
			require.NoError(t, os.Rename(dir, os.Getenv("PUBLISHED_FOLDER")))
			return
		}
	}
	t.Skip("PUBLISHED_SHAPE names no shape")
}

// randomFolder returns a folder with a config.json and random weights of a type.
func randomFolder(t testing.TB, config string, weights int, of safetensors.DType) string {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o644))
	f, err := pretrained.Open(dir)
	require.NoError(t, err)
	declared, err := layers.Declare(layers.NewDecoder, f.Config())
	require.NoError(t, err)
	require.Equal(t, weights, declared.Count())
	r := rand.New(rand.NewPCG(1, 2))
	var all []safetensors.Tensor
	for name, shape := range declared.Shapes() {
		all = append(all, safetensors.Tensor{Name: name, Shape: shape, Data: safetensors.Stream{DType: of,
			Each: func(write func(any) error) error {
				part := make([]float32, shape[len(shape)-1])
				for range shape.TotalSize() / len(part) {
					for i := range part {
						part[i] = (r.Float32() - 0.5) / 8
						if len(shape) == 1 {
							part[i]++
						}
					}
					if err := write(part); err != nil {
						return err
					}
				}
				return nil
			}}})
	}
	file := &safetensors.File{Metadata: map[string]string{"format": "pt"}, Tensors: all}
	require.NoError(t, safetensors.WriteFile(filepath.Join(dir, "model.safetensors"), file))
	return dir
}

// continues requires that generation with a cache gives the tokens of whole passes.
func continues(t testing.TB, g *pretrained.GPT) {
	ids := []int{1, 999, 40000, 7}
	cached, err := generate.New(g.Model, generate.Config{Capacity: 16})
	require.NoError(t, err)
	require.NoError(t, cached.Prompt(t.Context(), ids))
	var got []int
	for range 3 {
		id, err := cached.Next(t.Context())
		require.NoError(t, err)
		got = append(got, id)
	}
	whole, err := generate.NewWithoutCache(g.Model, len(ids)+len(got), generate.Config{})
	require.NoError(t, err)
	require.NoError(t, whole.Prompt(t.Context(), ids))
	for _, want := range got {
		id, err := whole.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, id)
	}
}

// showsHeads requires that the weights of all heads of all layers are nonnegative and sum to 1.
func showsHeads(t testing.TB, g *pretrained.GPT) {
	const T = 6
	b := layers.NewBuild(g.Params, layers.Eval)
	ids := b.InputOf(tensor.Int64, "ids", T)
	require.NoError(t, b.Err())
	require.NoError(t, G.Let(ids, tensor.New(tensor.WithShape(T), tensor.WithBacking([]int64{5, 6, 7, 8, 9, 5}))))
	_, err := g.Model.Next(b, ids)
	require.NoError(t, err)
	calls := b.Calls("model.layers.*.self_attn")
	require.Len(t, calls, g.Model.Config().NumLayers)
	var nodes G.Nodes
	for _, call := range calls {
		n, err := call.Weights()
		require.NoError(t, err)
		nodes = append(nodes, n)
	}
	m, err := machine.New(nodes...)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	heads := g.Model.Config().Blocks[0].Attention.NumHeads
	for _, n := range nodes {
		require.Equal(t, tensor.Shape{heads, T, T}, n.Shape())
		for row := range slices.Chunk(golden.Floats(t, n.Value()), T) {
			sum := 0.0
			for _, x := range row {
				sum += x
			}
			require.InDelta(t, 1, sum, 1e-5)
		}
	}
}

// sums returns a checksum of each weight in a folder, with its type and shape.
func sums(t testing.TB, dir string) map[string]string {
	all := map[string]string{}
	names, err := filepath.Glob(filepath.Join(dir, "*.safetensors"))
	require.NoError(t, err)
	for _, name := range names {
		r, err := safetensors.Open(name)
		require.NoError(t, err)
		for _, x := range r.Tensors() {
			bytes, _, err := r.Bytes(x.Name)
			require.NoError(t, err)
			all[x.Name] = fmt.Sprintf("%s %v %x", x.DType, x.Shape, sha256.Sum256(bytes))
		}
		require.NoError(t, r.Close())
	}
	return all
}
