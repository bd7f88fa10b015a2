package generate_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"attention/graph"
	"attention/internal/kernel"
	"attention/internal/parallel"
	"attention/internal/simd"
	"attention/layers"
	"attention/layers/generate"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// gpt2Small is GPT-2 with 124 million parameters.
var gpt2Small = layers.GPTConfig{VocabSize: 50257, ContextLength: 1024, EmbedDim: 768, NumLayers: 12, NumHeads: 12,
	Activation: "gelu_new", TieWordEmbeddings: true, Bias: true}

// benchGPT2 returns GPT-2 small with numbers in place of its weights.
func benchGPT2(b *testing.B) *layers.Decoder {
	p := layers.NewBlankParams(tensor.Float32)
	m := must(layers.NewGPT(p.Scope(""), gpt2Small))
	for _, v := range p.All() {
		copy(v.Float32s(), benchNumbers(v.Shape().TotalSize()))
	}
	return m
}

func benchNumbers(n int) []float32 {
	state, x := uint32(1), make([]float32, n)
	for i := range x {
		state = state*1664525 + 1013904223
		x[i] = (float32(state>>8)/(1<<24) - 0.5) * 0.07
	}
	return x
}

// BenchmarkToken times one more token of GPT-2 small after n others, in turns with a sweep that reads as much memory as
// the weights take: of-reading is the sweep's median time divided by the token's, and best is the quotient of the
// shortest times.
func BenchmarkToken(b *testing.B) { inPrecisions(b, benchmarkToken) }

func benchmarkToken(b *testing.B, p graph.Precision) {
	m := benchGPT2(b)
	memory := benchNumbers(m.Params().Count())
	g := must(generate.New(m, generate.Config{Precision: p}))
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("after%d", n), func(b *testing.B) {
			var tokens, sweeps []float64
			for b.Loop() {
				g.Reset()
				require.NoError(b, g.Prompt(ctx, ids(n, 50257)))
				_, err := g.Next(ctx) // of the prompt's own scores
				require.NoError(b, err)
				for range 20 {
					tokens = append(tokens, seconds(func() { _, err = g.Next(ctx) }))
					require.NoError(b, err)
					sweeps = append(sweeps, seconds(func() { readAll(memory) }))
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(1e3*median(tokens), "ms/token")
			b.ReportMetric(median(sweeps)/median(tokens), "of-reading")
			b.ReportMetric(slices.Min(sweeps)/slices.Min(tokens), "best")
		})
	}
}

// BenchmarkPrompt times the reading of a prompt by GPT-2 small: of-peak is its rate of multiply-adds relative to the
// peak of the cores in that precision, which the same process measures in turns with it.
func BenchmarkPrompt(b *testing.B) { inPrecisions(b, benchmarkPrompt) }

func benchmarkPrompt(b *testing.B, p graph.Precision) {
	peak := simd.PeakFMA[float32]
	if p == graph.BFloat16 {
		peak = simd.PeakBF16
	}
	g := must(generate.New(benchGPT2(b), generate.Config{Precision: p}))
	for _, n := range []int{64, 256, 512, 1023} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var took, peaks []float64
			for b.Loop() {
				g.Reset()
				took = append(took, seconds(func() { require.NoError(b, g.Prompt(ctx, ids(n, 50257))) }))
				peaks = append(peaks, peak(50*time.Millisecond))
			}
			c := gpt2Small
			blocks := 2 * 12 * float64(n) * float64(c.EmbedDim*c.EmbedDim) * float64(c.NumLayers)
			pairs := 2 * 2 * float64(c.EmbedDim) * float64(n*(n+1)/2) * float64(c.NumLayers)
			cores := float64(runtime.GOMAXPROCS(0))
			work := blocks + pairs + 2*float64(c.EmbedDim*c.VocabSize)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(1e3*median(took), "ms/prompt")
			b.ReportMetric(work/median(took)/median(peaks)/cores, "of-peak")
			b.ReportMetric(work/slices.Min(took)/slices.Max(peaks)/cores, "best")
		})
	}
}

// inPrecisions runs a benchmark in each precision that this processor supports.
func inPrecisions(b *testing.B, run func(*testing.B, graph.Precision)) {
	for _, p := range []graph.Precision{graph.FullPrecision, graph.BFloat16} {
		if p.Check(tensor.Float32) == nil {
			b.Run(p.String(), func(b *testing.B) { run(b, p) })
		}
	}
}

func seconds(f func()) float64 {
	start := time.Now()
	f()
	return time.Since(start).Seconds()
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// readAll reads x on all cores.
func readAll(x []float32) {
	parallel.For(len(x), 1<<18, func(lo, hi int) { kernel.SumSquares(x[lo:hi]) })
}
