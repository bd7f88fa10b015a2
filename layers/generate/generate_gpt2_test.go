package generate_test

import (
	"hash/fnv"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"attention/internal/golden"
	"attention/layers"
	"attention/layers/generate"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// fillByFormula gives a parameter the values of testdata/torch/gpt_small.py.
func fillByFormula(name string, values []float32) {
	hash := fnv.New32a()
	hash.Write([]byte(name)) // cannot fail
	scale := float32(0.05 / (1 << 23))
	if strings.HasSuffix(name, "c_attn.weight") {
		scale = float32(0.1 / (1 << 23))
	}
	norm := strings.Contains(name, ".ln_") && strings.HasSuffix(name, "weight")
	for i := range values {
		h := hash.Sum32() + uint32(i)
		h ^= h >> 16
		h *= 0x7feb352d
		h ^= h >> 15
		h *= 0x846ca68b
		h ^= h >> 16
		values[i] = float32(int32(h>>8)-1<<23) * scale
		if norm {
			values[i]++
		}
	}
}

// The scores of a GPT-2 with 124 million weights equal PyTorch's. It takes 1 GB and some seconds, so it runs only if
// ATTENTION_LARGE is set.
func TestGPT2SmallEqualsPyTorch(t *testing.T) {
	if os.Getenv("ATTENTION_LARGE") == "" {
		t.Skip("takes 1 GB: set ATTENTION_LARGE=1 to run it")
	}
	f := golden.Load(t, "torch/gpt_small.safetensors")
	began := time.Now()
	p := layers.NewBlankParams(tensor.Float32)
	m := must(layers.NewGPT(p.Scope(""), gpt2Small))
	for name, v := range p.All() {
		fillByFormula(name, v.Float32s())
	}
	text := make([]int, 48)
	for i := range text {
		text[i] = (31*i*i + 7) % 50257
	}
	t.Logf("%d weights made in %v", p.Count(), time.Since(began))

	began = time.Now()
	whole := scores(t, p, m, text)
	t.Logf("the whole text at once in %v", time.Since(began))
	compareWithTorch(t, f, "at once", func(row int) []float64 { return whole[row] })

	began = time.Now()
	g := must(generate.New(m, generate.Config{Capacity: len(text)}))
	read := map[int][]float64{}
	next := 0
	for _, end := range []int{1, 40, 41, 42, 43, 44, 45, 46, 47, 48} {
		require.NoError(t, g.Prompt(ctx, text[next:end]))
		read[end-1], next = slices.Clone(g.Logits()), end
	}
	t.Logf("1 + 39 tokens in chunks and 8 by one in %v", time.Since(began))
	compareWithTorch(t, f, "with a cache", func(row int) []float64 { return read[row] })
}

// compareWithTorch requires the stored scores, and the logarithms of the sums of all exp(scores), to 1e-4, and logs the
// largest difference.
func compareWithTorch(t *testing.T, f *golden.File, how string, logits func(row int) []float64) {
	rows, columns := f.Int64("rows"), f.Int64("columns")
	want, norms := f.Float64("logits"), f.Float64("norms")
	most := 0.0
	for i, row := range rows {
		all := logits(int(row))
		require.Len(t, all, 50257)
		got := make([]float64, len(columns))
		for j, c := range columns {
			got[j] = all[c]
			most = max(most, math.Abs(got[j]-want[i*len(columns)+j]))
		}
		golden.Close(t, how, want[i*len(columns):][:len(columns)], got, 1e-4, 0)
		sum := 0.0
		for _, v := range all {
			sum += math.Exp(v)
		}
		require.InDelta(t, norms[i], math.Log(sum), 1e-4, how)
	}
	t.Logf("%s: scores within %.2g of PyTorch's float64; its float32 is within %s", how, most, f.Metadata("float32"))
}
