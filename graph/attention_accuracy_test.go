package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/internal/testenv"

	"github.com/stretchr/testify/assert"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// The error of the fused form against float64 is at most twice that of the composed form, for any config and for
// numbers of any size. testdata/torch/attention_accuracy.py shows that PyTorch's float32 is no closer than the composed
// form.
func TestFusedAttentionIsAsAccurateAsComposed(t *testing.T) {
	configs := 12
	switch {
	case testenv.All:
		configs = 60
	case testing.Short() || testenv.Race:
		configs = 3
	}
	draw := rapid.Custom(func(rt *rapid.T) scaledAttention {
		d := newDrawing(rt)
		s := scaledAttention{drawnAttention: drawAttention(rt)}
		s.huge, s.dt = false, tensor.Float32
		s.c.Sparse, s.blocks = nil, nil // rounding would change which blocks are chosen
		for i := range s.deviations {
			s.deviations[i] = math.Pow(10, float64(d.int("deviation", -6, 6))/2)
		}
		return s
	}).Filter(func(s scaledAttention) bool {
		return s.v.axis(-1) > s.keyHeads() // a product adds up a single column in many parts: its error is a third
	})
	for seed := range configs {
		s := draw.Example(seed)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { s.compare(t, 21) })
	}
}

// scaledAttention is an attention for which new numbers are drawn again and again.
type scaledAttention struct {
	drawnAttention
	deviations [7]float64 // scales of queries, keys, values, gradients of the output, and biases
}

// redraw returns the attention with new numbers that are exact in float32, and gradients of its output.
func (s scaledAttention) redraw(draw int) (a drawnAttention, dout array) {
	a = s.drawnAttention
	r := rand.New(rand.NewPCG(uint64(draw), 3))
	numbers := func(x array, of int) array {
		y := normal(r, x.shape...)
		for i := range y.v {
			y.v[i] = float64(float32(s.deviations[of] * y.v[i]))
		}
		return y
	}
	a.q, a.k, a.v = numbers(a.q, 0), numbers(a.k, 1), numbers(a.v, 2)
	for i, x := range []*addend{&a.bias, &a.relative, &a.sinks} {
		if x.name != "" {
			x.array = numbers(x.array, 4+i)
			*x = x.added()
		}
	}
	heads := max(a.c.Heads, 1)
	return a, numbers(a.q.like(a.v.axis(-1)/a.keyHeads()*heads), 3)
}

// errors holds the error of each draw, by the name of the output or gradient.
type errors map[string][]float64

func (s scaledAttention) compare(t *testing.T, draws int) {
	composed, fused, apart, least := errors{}, errors{}, errors{}, errors{}
	names := append([]string{"out"}, s.names()...)
	for draw := range draws {
		a, dout := s.redraw(draw)
		kept := a.dropped(t)
		a.dt = tensor.Float64
		exact, double := a.run(t, false, dout), a.run(t, true, dout)
		a.dt = tensor.Float32
		got, other := a.run(t, true, dout), a.run(t, false, dout)
		terms := a.largestTerms(kept, dout)
		for i, name := range names {
			composed.add(name, exact.of(i), other.of(i))
			fused.add(name, exact.of(i), got.of(i))
			apart.add(name, exact.of(i), double.of(i))
			least[name] = append(least[name], terms[name])
		}
	}
	for _, name := range names {
		const smallest = 0x1p-126 // the least normal number: smaller weights are 0
		floor, most := max(smallest, 4*0x1p-23*least.median(name)), 2*composed.median(name)
		assert.LessOrEqual(t, fused.median(name), max(floor, most), "%s, float32: composed %.3g, 4 ulp %.3g; %s",
			name, composed.median(name), floor, s.about())
		// The float64 errors of both forms are a small part of the float32 errors.
		const part = 0x1p-29
		assert.LessOrEqual(t, apart.median(name), 1.5*part*max(floor, most), "%s, float64: composed %.3g, 4 ulp %.3g; %s",
			name, part*composed.median(name), part*floor, s.about())
	}
}

// of returns the output, or one of the gradients.
func (r attended) of(i int) array {
	if i == 0 {
		return r.out
	}
	return r.grads[i-1]
}

// add adds the root mean square of a difference to the errors.
func (e errors) add(name string, want, got array) {
	sum := 0.
	for i, w := range want.v {
		if w != got.v[i] { // otherwise both may be infinite
			sum += (w - got.v[i]) * (w - got.v[i])
		}
	}
	e[name] = append(e[name], math.Sqrt(sum/float64(max(len(want.v), 1))))
}

func (e errors) median(name string) float64 {
	x := slices.Sorted(slices.Values(e[name]))
	return x[len(x)/2]
}

func (s scaledAttention) about() string {
	c := s.c
	text := fmt.Sprintf("%v: q %v, k %v, v %v, %d of %d heads, scale %v, softcap %v, dropout %v, deviations %.3g",
		s.names(), s.q.shape, s.k.shape, s.v.shape, c.KVHeads, c.Heads, c.Scale, c.Softcap, c.Dropout.P, s.deviations)
	if c.Sigmoid {
		text += fmt.Sprintf(", sigmoids of scores + %v", c.SigmoidBias)
	}
	if c.Score != nil {
		text += fmt.Sprintf(", scores by a %T", c.Score)
	}
	return text
}
