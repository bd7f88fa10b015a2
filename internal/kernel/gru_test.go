package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// naiveGRU returns the states after each token by the formula, one number at a time.
//
//go:norace
func naiveGRU(g GRU, x, h0, weight, bias []float64) []float64 {
	out := make([]float64, g.B*g.T*g.H)
	for b := range g.B {
		h := make([]float64, g.H)
		if h0 != nil {
			copy(h, h0[b*g.H:])
		}
		for i := range g.T {
			t := i
			if g.Reverse {
				t = g.T - 1 - i
			}
			if g.Lengths == nil || int64(t) < g.Lengths[b] {
				h = naiveGRUStep(x[(b*g.T+t)*3*g.H:], h, weight, bias)
			}
			copy(out[(b*g.T+t)*g.H:], h)
		}
	}
	return out
}

//go:norace
func naiveGRUStep(x, h, weight, bias []float64) []float64 {
	n := len(h)
	inner := func(row int) (sum float64) {
		for k, v := range h {
			sum += weight[row*n+k] * v
		}
		if bias != nil {
			sum += bias[row]
		}
		return sum
	}
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	next := make([]float64, n)
	for j := range next {
		r, z := sigmoid(x[j]+inner(j)), sigmoid(x[n+j]+inner(n+j))
		next[j] = (1-z)*math.Tanh(x[2*n+j]+r*inner(2*n+j)) + z*h[j]
	}
	return next
}

// gruCases are sizes, directions and lengths that cover the difficult cases.
func gruCases() (cases []GRU) {
	for _, size := range []GRU{
		{B: 1, T: 1, H: 1},
		{B: 2, T: 5, H: 3},
		{B: 3, T: 4, H: 17},
		{B: 2, T: 6, H: 7, Lengths: []int64{4, 6}},
		{B: 3, T: 3, H: 5, Lengths: []int64{0, 1, 9}},
	} {
		back := size
		back.Reverse = true
		cases = append(cases, size, back)
	}
	return cases
}

// gruInput is random arguments of a run.
type gruInput struct{ x, h0, weight, bias []float64 }

func newGRUInput(r *rand.Rand, g GRU, without int) gruInput {
	random := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = r.NormFloat64()
		}
		return v
	}
	in := gruInput{random(3 * g.B * g.T * g.H), random(g.B * g.H), random(3 * g.H * g.H), random(3 * g.H)}
	if without&1 != 0 {
		in.h0 = nil
	}
	if without&2 != 0 {
		in.bias = nil
	}
	return in
}

func TestGRUForward(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, g := range gruCases() {
		for without := range 4 {
			in := newGRUInput(r, g, without)
			want := naiveGRU(g, in.x, in.h0, in.weight, in.bias)
			out, gates := make([]float64, len(want)), make([]float64, 4*len(want))
			for i := range gates {
				gates[i] = math.NaN() // whatever is there
			}
			GRUForward(g, out, gates, in.x, in.h0, in.weight, in.bias)
			require.InDeltaSlice(t, want, out, 1e-13, "%+v without %d", g, without)

			out32, gates32 := make([]float32, len(want)), make([]float32, 4*len(want))
			GRUForward(g, out32, gates32, narrow(in.x), narrow(in.h0), narrow(in.weight), narrow(in.bias))
			for i, v := range out32 {
				require.InDelta(t, want[i], v, 1e-5, "%+v without %d", g, without)
			}
		}
	}
}

func narrow(x []float64) []float32 {
	if x == nil {
		return nil
	}
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}

// The gradients are the central differences of Σ out⊙dout by the formula.
func TestGRUBackward(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, g := range gruCases() {
		for without := range 4 {
			in := newGRUInput(r, g, without)
			n := g.B * g.T * g.H
			dout := make([]float64, n)
			for i := range dout {
				dout[i] = r.NormFloat64()
			}
			out, gates := make([]float64, n), make([]float64, 4*n)
			GRUForward(g, out, gates, in.x, in.h0, in.weight, in.bias)
			d := GRUGradients[float64]{X: make([]float64, 3*n), H0: make([]float64, g.B*g.H),
				Weight: make([]float64, len(in.weight)), Scratch: make([]float64, 3*n)}
			if in.bias != nil {
				d.Bias = make([]float64, len(in.bias))
			}
			for _, v := range [][]float64{d.X, d.H0, d.Weight, d.Bias, d.Scratch} {
				for i := range v {
					v[i] = math.NaN()
				}
			}
			GRUBackward(g, d, dout, out, gates, in.h0, in.weight)
			cost := func() (sum float64) {
				for i, v := range naiveGRU(g, in.x, in.h0, in.weight, in.bias) {
					sum += v * dout[i]
				}
				return sum
			}
			for name, pair := range map[string][2][]float64{
				"x": {in.x, d.X}, "h0": {in.h0, d.H0}, "weight": {in.weight, d.Weight}, "bias": {in.bias, d.Bias},
			} {
				for i := range pair[0] {
					was := pair[0][i]
					const step = 1e-5
					pair[0][i] = was + step
					up := cost()
					pair[0][i] = was - step
					down := cost()
					pair[0][i] = was
					require.InDelta(t, (up-down)/(2*step), pair[1][i], 1e-7, "%+v without %d: %s[%d]", g, without, name, i)
				}
			}
		}
	}
}

func TestGRURefuses(t *testing.T) {
	ok := GRU{B: 2, T: 3, H: 4}
	run := func(g GRU, weight int) func() {
		return func() {
			n := 2 * 3 * 4
			GRUForward(g, make([]float64, n), make([]float64, 4*n), make([]float64, 3*n), nil, make([]float64, weight), nil)
		}
	}
	require.NotPanics(t, run(ok, 48))
	require.Panics(t, run(ok, 47))
	require.Panics(t, run(GRU{B: 2, T: 0, H: 4}, 48))
	require.Panics(t, run(GRU{B: 2, T: 3, H: 4, Lengths: []int64{1}}, 48))
}

func BenchmarkGRU(b *testing.B) {
	for _, g := range []GRU{{B: 32, T: 40, H: 64}, {B: 1, T: 40, H: 256}} {
		r := rand.New(rand.NewPCG(5, 6))
		in, n := newGRUInput(r, g, 0), g.B*g.T*g.H
		x, h0, weight, bias := narrow(in.x), narrow(in.h0), narrow(in.weight), narrow(in.bias)
		out, gates := make([]float32, n), make([]float32, 4*n)
		d := GRUGradients[float32]{make([]float32, 3*n), make([]float32, g.B*g.H), make([]float32, len(weight)),
			make([]float32, len(bias)), make([]float32, 3*n)}
		b.Run(fmt.Sprintf("B%d T%d H%d", g.B, g.T, g.H), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				GRUForward(g, out, gates, x, h0, weight, bias)
				GRUBackward(g, d, out, out, gates, h0, weight)
			}
		})
	}
}
