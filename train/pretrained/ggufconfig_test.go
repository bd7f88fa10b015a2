package pretrained_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/internal/gguf"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// changed writes the file of a model after changes, and returns its path.
func changed(t testing.TB, name string, change func(*gguf.File)) string {
	path := filepath.Join(t.TempDir(), "model.gguf")
	require.NoError(t, decoder(t, decoders[name].config).WriteGGUF(path, "f32"))
	f, err := gguf.Open(path)
	require.NoError(t, err)
	if change(f); t.Failed() {
		t.FailNow()
	}
	to := filepath.Join(t.TempDir(), "changed.gguf")
	file, err := os.Create(to)
	require.NoError(t, err)
	require.NoError(t, gguf.Write(file, f))
	require.NoError(t, file.Close())
	return to
}

// set returns a change of a setting; nil removes it.
func set(key string, value any) func(*gguf.File) {
	return func(f *gguf.File) {
		f.Settings = slices.DeleteFunc(f.Settings, func(s gguf.Setting) bool { return s.Key == key })
		if value != nil {
			f.Settings = append(f.Settings, gguf.Setting{Key: key, Value: value})
		}
	}
}

// tensorOf returns a change of a tensor.
func tensorOf(t testing.TB, name string, change func(*gguf.Tensor)) func(*gguf.File) {
	return func(f *gguf.File) {
		at := slices.IndexFunc(f.Tensors, func(of gguf.Tensor) bool { return of.Name == name })
		require.GreaterOrEqual(t, at, 0)
		change(&f.Tensors[at])
	}
}

// The error about a setting that is not supported names it; settings without an effect are accepted.
func TestReadGGUFRefuses(t *testing.T) {
	rename := func(to string) func(*gguf.Tensor) { return func(of *gguf.Tensor) { of.Name = to } }
	for _, c := range []struct {
		model  string
		change func(*gguf.File)
		want   string // "" if the file is accepted
	}{
		{"llama", set("general.architecture", "mamba"), `general.architecture: got "mamba": family not supported, want one of ` +
			"gpt2, llama, qwen2, qwen3, smollm3, olmo2, gemma2, gemma3, gptneox"},
		{"llama", set("general.architecture", uint32(1)), "general.architecture: got a uint32, want a string"},
		{"llama", set("general.type", "adapter"), `general.type: got "adapter", want a model`},
		{"llama", set("split.count", uint32(2)), "split.count: got one of 2 parts of a model, want the model in one file"},
		{"llama", set("llama.expert_count", uint32(8)), "llama.expert_count: got 8, want none: it is not obeyed here"},
		{"llama", set("llama.expert_count", uint32(0)), ""},
		{"llama", set("llama.attention.causal", false), "llama.attention.causal: got false, want none"},
		{"llama", set("llama.attention.causal", true), ""},
		{"llama", set("llama.vocab_size", uint32(13)), ""},
		{"llama", set("llama.attention.sliding_window", uint32(8)), "llama.attention.sliding_window: got 8, want none"},
		{"llama", set("llama.attention.value_length", uint32(8)), "llama.attention.value_length: got 8, want 4"},
		{"llama", set("llama.rope.dimension_count", uint32(2)), "llama.rope.dimension_count: got 2, want 4"},
		{"llama", set("llama.rope.scaling.type", "longrope"), "want default, dynamic, linear, llama3, proportional or yarn"},
		{"llama", set("llama.rope.scaling.type", "none"), ""},
		{"llama", set("llama.attention.head_count", []uint32{6, 6}), "llama.attention.head_count: got [6,6], want a number"},
		{"llama", set("llama.attention.head_count", uint32(0)), "num_attention_heads"},
		{"llama", set("llama.attention.head_count_kv", uint32(4)), "NumKVHeads: got 4, want 0 or a divisor of NumHeads=6"},
		{"llama", set("llama.block_count", nil), "llama.block_count: missing, want a number"},
		{"llama", set("llama.block_count", uint32(60000)), "llama.block_count: got 60000, want at most 512"},
		{"llama", set("llama.block_count", uint32(3)), "weights: missing blk.2."},
		{"llama", set("llama.block_count", uint32(1)), `unknown "blk.1.`},
		{"llama", set("llama.feed_forward_length", uint32(1<<31)), "DimFeedforward: got 2147483648"},
		{"llama", set("llama.feed_forward_length", uint32(99)), "weights: blk.0.ffn_gate.weight is (20, 24), want (99, 24)"},
		{"llama", set("llama.rope.freq_base", nil), ""},
		{"llama", set("tokenizer.ggml.model", "t5"), `tokenizer.ggml.model: got "t5", want gpt2 or llama`},
		{"llama", set("tokenizer.ggml.model", "none"), ""},
		{"llama", set("tokenizer.ggml.tokens", []string{`\xc3`}), "tokenizer.ggml.model: got rwkv's tokens, which are not read"},
		{"llama", tensorOf(t, "token_embd.weight", rename("x")), "tensor token_embd.weight: missing"},
		{"llama", tensorOf(t, "blk.1.attn_q.weight", rename("blk.1.attn_q.bias")), `unknown "blk.1.attn_q.bias"`},
		{"llama", tensorOf(t, "blk.1.ffn_up.weight", func(of *gguf.Tensor) { of.Shape = []int{24, 20} }),
			"weights: blk.1.ffn_up.weight is (24, 20), want (20, 24)"},
		{"llama 3", tensorOf(t, "rope_freqs.weight", func(of *gguf.Tensor) {
			of.Fill = func(to []float32) error {
				copy(to, []float32{1, 3, 2, 8, 8, 8})
				return nil
			}
		}), "tensor rope_freqs.weight: got factors of frequencies that are not those of Llama 3"},
		{"qwen2", tensorOf(t, "blk.0.attn_norm.weight", rename("rope_freqs.weight")), "tensor rope_freqs.weight: got the shape"},
		{"gemma2", set("gemma2.attention.sliding_window_pattern", uint32(0)), "got 0, want a number of at least 1"},
		{"gemma2", set("gemma2.attention.sliding_window_pattern", nil), ""},
		{"olmo2", set("olmo2.attention.sliding_window", uint32(8)), "olmo2.attention.sliding_window: got 8, want none"},
	} {
		path := changed(t, c.model, c.change)
		_, err := pretrained.ReadGPT(path)
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.want, c.want)
		require.ErrorContains(t, err, path)
		require.NotContains(t, err.Error(), "\n")
	}
}

// Any file gives either an error of one line or a model.
func FuzzReadGGUF(f *testing.F) {
	for _, name := range []string{"llama 3", "gemma3", "gpt_neox", "qwen2 yarn"} {
		content, err := os.ReadFile(changed(f, name, func(*gguf.File) {}))
		require.NoError(f, err)
		f.Add(content)
	}
	path := filepath.Join(f.TempDir(), "model.gguf")
	f.Fuzz(func(t *testing.T, content []byte) {
		require.NoError(t, os.WriteFile(path, content, 0o600))
		if _, err := pretrained.ReadGPT(path); err != nil {
			require.False(t, strings.ContainsAny(err.Error(), "\n\r"), err)
		}
	})
}
