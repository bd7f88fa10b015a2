package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// naiveLinear is a LinearAttention by its recurrence, token by token. It returns o and the last states.
//
//go:norace
func naiveLinear(l LinearAttention, in LinearOperands[float64]) (out, last []float64) {
	out, last = make([]float64, l.B*l.T*l.H*l.DV), make([]float64, l.stateSize())
	copy(last, in.State)
	for b := range l.B {
		for h := range l.K {
			s := last[(b*l.K+h)*l.D*l.DV:][:l.D*l.DV]
			for t := range l.T {
				if l.Lengths != nil && int64(t) >= l.Lengths[b] {
					break
				}
				naiveLinearToken(l, in, s, out, b*l.T+t, h)
			}
		}
	}
	return out, last
}

//go:norace
func naiveLinearToken(l LinearAttention, in LinearOperands[float64], s, out []float64, token, h int) {
	at, w := token*l.K+h, l.decayWidth()
	k, v := in.K[at*l.D:][:l.D], in.V[at*l.DV:][:l.DV]
	for j := range v {
		if in.Decay != nil {
			for d := range k {
				s[d*l.DV+j] *= math.Exp(in.Decay[at*w+d%w])
			}
		}
		u := v[j]
		if in.Beta != nil {
			for d, k := range k {
				u -= s[d*l.DV+j] * k
			}
			u *= in.Beta[at]
		}
		for d, k := range k {
			s[d*l.DV+j] += k * u
		}
		for g := range l.H / l.K {
			row := token*l.H + h*(l.H/l.K) + g
			for d, q := range in.Q[row*l.D:][:l.D] {
				out[row*l.DV+j] += l.Scale * q * s[d*l.DV+j]
			}
		}
	}
}

// linearCase is a LinearAttention with the list of its operands.
type linearCase struct {
	LinearAttention
	decay, beta, state bool
	strength           float64 // of the decays' logarithms
}

func (c linearCase) String() string {
	return fmt.Sprintf("%+v decay %v beta %v state %v strength %v", c.LinearAttention, c.decay, c.beta, c.state,
		c.strength)
}

func linearCases() (cases []linearCase) {
	for _, l := range []LinearAttention{
		{B: 1, T: 1, H: 1, K: 1, D: 1, DV: 1, Scale: 1},
		{B: 2, T: 1, H: 4, K: 2, D: 5, DV: 3, Scale: 0.5},
		{B: 2, T: 37, H: 2, K: 2, D: 7, DV: 5, Scale: 0.5},
		{B: 1, T: 65, H: 3, K: 1, D: 3, DV: 17, Scale: 0.5},
		{B: 3, T: 131, H: 4, K: 2, D: 8, DV: 16, Scale: 0.25, Lengths: []int64{131, 64, 0}},
	} {
		for i := range 12 {
			c := linearCase{l, i%3 > 0, i/3%2 > 0, i/6 > 0, 1}
			c.Channels = i%3 == 2
			cases = append(cases, c)
		}
	}
	for _, strength := range []float64{1e-6, 30, 300, 1e6} {
		for i := range 4 {
			l := LinearAttention{B: 1, T: 70, H: 1, K: 1, D: 4, DV: 4, Scale: 1, Channels: i%2 == 1}
			cases = append(cases, linearCase{l, true, i/2 == 1, true, strength})
		}
	}
	return cases
}

// draw returns operands in float64 whose values are exact in float32. Keys have a length of about 1.
func (c linearCase) draw(r *rand.Rand) (in LinearOperands[float64]) {
	n := c.B * c.T
	numbers := func(given bool, n int, lo, hi float64) []float64 {
		if !given {
			return nil
		}
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(float32(lo + (hi-lo)*r.Float64()))
		}
		return x
	}
	key := math.Sqrt(3 / float64(c.D))
	return LinearOperands[float64]{
		Q: numbers(true, n*c.H*c.D, -1, 1), K: numbers(true, n*c.K*c.D, -key, key), V: numbers(true, n*c.K*c.DV, -1, 1),
		Decay: numbers(c.decay, n*c.K*c.decayWidth(), -c.strength, 0), Beta: numbers(c.beta, n*c.K, 0, 1),
		State: numbers(c.state, c.stateSize(), -1, 1),
	}
}

func narrowLinear(in LinearOperands[float64]) (out LinearOperands[float32]) {
	from, to := in.list(), out.list()
	for i, x := range from {
		for _, v := range *x {
			*to[i] = append(*to[i], float32(v))
		}
	}
	return out
}

// list returns the operands in order.
func (o *LinearOperands[F]) list() []*[]F {
	return []*[]F{&o.Q, &o.K, &o.V, &o.Decay, &o.Beta, &o.State}
}

// like returns memory for the gradients of operands, filled with NaN.
func (o *LinearOperands[F]) like() (grad LinearOperands[F]) {
	for i, x := range o.list() {
		if *x != nil {
			g := make([]F, len(*x))
			for j := range g {
				g[j] = F(math.NaN())
			}
			*grad.list()[i] = g
		}
	}
	return grad
}

func near[F Float](t *testing.T, name string, want []float64, got []F, tolerance float64) {
	t.Helper()
	require.Len(t, got, len(want), name)
	for i, w := range want {
		if !(math.Abs(float64(got[i])-w) <= tolerance*max(1, math.Abs(w))) {
			t.Fatalf("%s: got %v at %d, want %v", name, got[i], i, w)
		}
	}
}

func runLinear[F Float](t *testing.T, l LinearAttention, in LinearOperands[F]) (out, states []F) {
	out, states = make([]F, l.B*l.T*l.H*l.DV), make([]F, l.States()*l.stateSize())
	for i := range out {
		out[i] = F(math.NaN())
	}
	LinearForward(l, out, states, in)
	return out, states
}

func TestLinearForward(t *testing.T) {
	for _, c := range linearCases() {
		in := c.draw(rand.New(rand.NewPCG(1, 2)))
		out, last := naiveLinear(c.LinearAttention, in)
		got, states := runLinear(t, c.LinearAttention, in)
		near(t, c.String()+" out", out, got, 1e-12)
		near(t, c.String()+" state", last, states[len(states)-len(last):], 1e-12)
		narrow, narrowStates := runLinear(t, c.LinearAttention, narrowLinear(in))
		near(t, c.String()+" out, float32", out, narrow, 1e-5)
		near(t, c.String()+" state, float32", last, narrowStates[len(states)-len(last):], 1e-5)
	}
}

// TestLinearBackward compares the gradients of a weighted sum of o with central differences of the recurrence.
func TestLinearBackward(t *testing.T) {
	for _, c := range linearCases() {
		r := rand.New(rand.NewPCG(3, 4))
		in := c.draw(r)
		_, states := runLinear(t, c.LinearAttention, in)
		dout := make([]float64, c.B*c.T*c.H*c.DV)
		for i := range dout {
			dout[i] = float64(float32(2*r.Float64() - 1))
		}
		grad := in.like()
		LinearBackward(c.LinearAttention, grad, dout, states, in)
		narrow := narrowLinear(in)
		_, narrowStates := runLinear(t, c.LinearAttention, narrow)
		narrowGrad, narrowDout := narrow.like(), make([]float32, len(dout))
		for i, v := range dout {
			narrowDout[i] = float32(v)
		}
		LinearBackward(c.LinearAttention, narrowGrad, narrowDout, narrowStates, narrow)
		loss := func() (sum float64) {
			out, _ := naiveLinear(c.LinearAttention, in)
			for i, v := range out {
				sum += v * dout[i]
			}
			return sum
		}
		for i, x := range in.list() {
			name := fmt.Sprint(c, " gradient ", i)
			for n := 0; n < len(*x); n += 1 + len(*x)/29 {
				const h = 1e-4
				v := (*x)[n]
				(*x)[n] = v + h
				up := loss()
				(*x)[n] = v - h
				want := (up - loss()) / (2 * h)
				(*x)[n] = v
				got := (*grad.list()[i])[n]
				require.InDelta(t, want, got, 1e-6*max(1, math.Abs(want)), "%s at %d", name, n)
				require.InDelta(t, got, (*narrowGrad.list()[i])[n], 3e-5*max(1, math.Abs(want)), "%s, float32, at %d", name, n)
			}
			for _, v := range *grad.list()[i] {
				require.False(t, math.IsNaN(v), name)
			}
		}
	}
}
