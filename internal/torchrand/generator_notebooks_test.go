package torchrand_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"attention/internal/torchrand"
)

// The chapter's notebooks print four decimals: the error is half of the last one, and float32 arithmetic adds less than
// 1e-6.
const printed = 5e-5 + 1e-6

// inputs are the chapter's six token vectors, (T=6, E=3).
var inputs = [][]float64{
	{0.43, 0.15, 0.89}, {0.55, 0.87, 0.66}, {0.57, 0.85, 0.64},
	{0.22, 0.58, 0.33}, {0.77, 0.25, 0.10}, {0.05, 0.80, 0.55},
}

// randParameter returns nn.Parameter(torch.rand(3, 2)), transposed to a layer's (2, 3).
func randParameter(g *torchrand.Generator) []float32 {
	x := make([]float32, 6)
	torchrand.Uniform(g, x, 0, 1)
	return []float32{x[0], x[2], x[4], x[1], x[3], x[5]}
}

// linearWeight returns nn.Linear(3, 2, bias=False).weight, (2, 3).
func linearWeight(g *torchrand.Generator) []float32 {
	x := make([]float32, 6)
	b := float32(torchrand.KaimingUniformBound(3))
	torchrand.Uniform(g, x, -b, b)
	return x
}

// project returns token i multiplied by the (2, 3) weight w.
func project(i int, w []float32) [2]float64 {
	var y [2]float64
	for o := range y {
		for k, x := range inputs[i] {
			y[o] += x * float64(w[3*o+k])
		}
	}
	return y
}

// contextOf returns the attention's output for one token that sees the first s tokens.
func contextOf(token, s int, wq, wk, wv []float32) []float64 {
	q := project(token, wq)
	out := make([]float64, 2)
	sum := 0.
	for i := range s {
		k, v := project(i, wk), project(i, wv)
		weight := math.Exp((q[0]*k[0] + q[1]*k[1]) / math.Sqrt2)
		sum += weight
		out[0] += weight * v[0]
		out[1] += weight * v[1]
	}
	return []float64{out[0] / sum, out[1] / sum}
}

func TestNotebookSelfAttention(t *testing.T) {
	g := torchrand.New(123)
	q := project(1, randParameter(g))
	assert.InDeltaSlice(t, []float64{0.4306, 1.4551}, q[:], printed, "query_2")

	attend := func(g *torchrand.Generator, weight func(*torchrand.Generator) []float32) []float64 {
		wq, wk, wv := weight(g), weight(g), weight(g)
		return append(contextOf(0, 6, wq, wk, wv), contextOf(5, 6, wq, wk, wv)...)
	}
	assert.InDeltaSlice(t, []float64{0.2996, 0.8053, 0.2990, 0.8040},
		attend(torchrand.New(123), randParameter), printed, "SelfAttention_v1, first and last row")
	assert.InDeltaSlice(t, []float64{-0.0739, 0.0713, -0.0754, 0.0693},
		attend(torchrand.New(789), linearWeight), printed, "SelfAttention_v2, first and last row")

	g = torchrand.New(123) // one stream: v2 first, then v1
	assert.InDeltaSlice(t, []float64{-0.5337, -0.1051, -0.5299, -0.1081}, attend(g, linearWeight), printed)
	assert.InDeltaSlice(t, []float64{1.4035, 1.0391, 1.4025, 1.0361}, attend(g, randParameter), printed)
}

// The dropout of ones(6, 6) prints this mask, times 2. The cells after it do not set the seed again: their weights are
// right only if the mask used one draw.
func TestNotebookDropoutAndCausalAttention(t *testing.T) {
	g := torchrand.New(123)
	mask := make([]float32, 36)
	torchrand.KeepMask(g, mask, 0.5)
	assert.Equal(t, []float32{
		1, 1, 1, 1, 1, 1,
		0, 1, 0, 0, 0, 0,
		0, 0, 1, 0, 1, 0,
		1, 1, 0, 0, 0, 1,
		1, 0, 0, 0, 0, 1,
		0, 1, 0, 0, 0, 0,
	}, mask)

	wq, wk, wv := linearWeight(g), linearWeight(g), linearWeight(g)
	assert.InDeltaSlice(t, []float64{-0.2834, -0.2539}, contextOf(0, 1, wq, wk, wv), printed, "CausalAttention, first row")
	assert.InDeltaSlice(t, []float64{-0.3354, -0.0407}, contextOf(5, 6, wq, wk, wv), printed, "CausalAttention, last row")

	var heads []float64 // the two layers of MultiHeadAttentionWrapper, one after the other
	for range 2 {
		wq, wk, wv := linearWeight(g), linearWeight(g), linearWeight(g)
		heads = append(heads, contextOf(5, 6, wq, wk, wv)...)
	}
	assert.InDeltaSlice(t, []float64{0.3921, -0.0950, 0.3361, 0.1494}, heads, printed, "last row")
}

// The GPT-2 exercise's randn(1024, 768) continues the stream after the parameters
// of a MultiHeadAttention(3, 2).
func TestNotebookRandn(t *testing.T) {
	g := torchrand.New(123)
	for range 3 {
		linearWeight(g)
	}
	w, b := float32(torchrand.KaimingUniformBound(2)), float32(torchrand.LinearBiasBound(2))
	torchrand.Uniform(g, make([]float32, 4), -w, w) // out_proj.weight
	torchrand.Uniform(g, make([]float32, 2), -b, b) // out_proj.bias

	const rows, cols = 1024, 768
	doc := make([]float32, rows*cols)
	torchrand.Normal(g, doc, 0, 1)
	corners := map[int][]float64{ // row → its first and last three values
		0:    {-0.1606, -0.4015, 0.6957, 1.6873, 1.7270, 0.7496},
		2:    {-0.5157, 0.2716, -0.9348, -1.3915, -1.0310, 1.6252},
		1023: {0.2063, 0.1570, 0.0966, 0.8885, -1.0166, -1.6929},
	}
	for r, want := range corners {
		row := doc[r*cols : (r+1)*cols]
		for i, v := range append(row[:3:3], row[cols-3:]...) {
			assert.InDelta(t, want[i], v, printed, "row %d, value %d", r, i)
		}
	}
}
