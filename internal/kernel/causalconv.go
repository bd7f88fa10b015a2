package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// CausalConv is a convolution along T with a filter of N numbers for each of C channels, over B sequences: a token sees
// itself and the N−1 tokens before it, y[t] = bias + Σ weight[i]⊙x[t−N+1+i] (torch.nn.Conv1d with groups C).
type CausalConv struct{ B, T, C, N int }

// ConvOperands are the arguments of a CausalConv, or their gradients: X (B, T, C), Weight (C, N), Bias (C) and State
// (B, N−1, C), the tokens before the first. A nil Bias or State is 0.
type ConvOperands[F Float] struct{ X, Weight, Bias, State []F }

// CausalConvForward writes y (B, T, C).
func CausalConvForward[F Float](c CausalConv, y []F, in ConvOperands[F]) {
	c.check(len(y), len(in.X), len(in.Weight))
	fitOrNil("causal conv", c.C, in.Bias)
	fitOrNil("causal conv", c.B*(c.N-1)*c.C, in.State)
	call := convCall[F]{CausalConv: c, y: y, in: in, filters: filters(c, in.Weight)}
	parallel.Do(call, c.B*c.T, rowGrain(grainFast, c.C*c.N))
}

func (c CausalConv) check(y, x, weight int) {
	if min(c.B, c.T, c.C, c.N) < 1 {
		panic("kernel: causal conv: a size below 1")
	}
	fit("causal conv", c.B*c.T*c.C, y, x)
	fit("causal conv", c.C*c.N, weight)
}

// filters returns the weight as (N, C): the numbers of all channels for one position together.
func filters[F Float](c CausalConv, weight []F) []F {
	f := make([]F, len(weight))
	for i, v := range weight {
		f[i%c.N*c.C+i/c.N] = v
	}
	return f
}

// row returns the inputs of a token; a token before the first has t < 0. nil means 0.
func (c CausalConv) row(b, t int) (at int, inState bool) {
	if t < 0 {
		return (b*(c.N-1) + c.N - 1 + t) * c.C, true
	}
	return (b*c.T + t) * c.C, false
}

// at returns the numbers of a token: of X, or of State before the first. It is nil if there are none.
func (o ConvOperands[F]) at(c CausalConv, b, t int) []F {
	at, inState := c.row(b, t)
	switch {
	case !inState:
		return o.X[at:][:c.C]
	case o.State == nil:
		return nil
	}
	return o.State[at:][:c.C]
}

type convCall[F Float] struct {
	CausalConv
	y       []F
	in      ConvOperands[F]
	filters []F // (N, C)
}

func (c convCall[F]) Do(lo, hi int) {
	products := make([]F, c.C)
	for i := lo; i < hi; i++ {
		y := c.y[i*c.C:][:c.C]
		if c.in.Bias == nil {
			clear(y)
		} else {
			copy(y, c.in.Bias)
		}
		for n := range c.N {
			if x := c.in.at(c.CausalConv, i/c.T, i%c.T-c.N+1+n); x != nil {
				simd.Mul(products, x, c.filters[n*c.C:][:c.C])
				simd.AddRows(1, c.C, y, y, products)
			}
		}
	}
}

// CausalConvBackward writes the gradients, given dy (B, T, C). The gradients of Bias and State may be nil.
func CausalConvBackward[F Float](c CausalConv, grad ConvOperands[F], dy []F, in ConvOperands[F]) {
	c.check(len(dy), len(in.X), len(in.Weight))
	c.check(len(grad.X), len(in.X), len(grad.Weight))
	fitOrNil("causal conv", c.C, grad.Bias)
	fitOrNil("causal conv", c.B*(c.N-1)*c.C, in.State, grad.State)
	before := 0
	if grad.State != nil {
		before = c.N - 1
	}
	call := convInputs[F]{c, grad, before, dy, filters(c, in.Weight)}
	parallel.Do(call, c.B*(before+c.T), rowGrain(grainFast, c.C*c.N))
	parallel.Do(convWeights[F]{c, grad, dy, in}, c.C, columnGrain(c.B*c.T*c.N))
}

// convInputs computes the gradients of x, and of as many tokens before: dx[t] = Σ weight[i]⊙dy[t+N−1−i].
type convInputs[F Float] struct {
	CausalConv
	grad        ConvOperands[F]
	before      int
	dy, filters []F
}

func (c convInputs[F]) Do(lo, hi int) {
	products, each := make([]F, c.C), c.before+c.T
	for i := lo; i < hi; i++ {
		b, t := i/each, i%each-c.before
		dx := c.grad.at(c.CausalConv, b, t)
		clear(dx)
		for n := range c.N {
			if to := t + c.N - 1 - n; to >= 0 && to < c.T {
				simd.Mul(products, c.dy[(b*c.T+to)*c.C:][:c.C], c.filters[n*c.C:][:c.C])
				simd.AddRows(1, c.C, dx, dx, products)
			}
		}
	}
}

// convWeights computes the gradients of weight and bias, dweight[i] = Σ x[t−N+1+i]⊙dy[t], of some channels.
type convWeights[F Float] struct {
	CausalConv
	grad ConvOperands[F]
	dy   []F
	in   ConvOperands[F]
}

func (c convWeights[F]) Do(lo, hi int) {
	width := hi - lo
	products, sums, total := make([]F, width), make([]F, (c.N+1)*width), make([]float64, (c.N+1)*width)
	for b := range c.B {
		for t := range c.T {
			dy := c.dy[(b*c.T+t)*c.C+lo:][:width]
			for n := range c.N {
				if x := c.in.at(c.CausalConv, b, t-c.N+1+n); x != nil {
					simd.Mul(products, x[lo:hi], dy)
					sum := sums[n*width:][:width]
					simd.AddRows(1, width, sum, sum, products)
				}
			}
			sum := sums[c.N*width:]
			simd.AddRows(1, width, sum, sum, dy)
			if t%convBlock == convBlock-1 || t == c.T-1 {
				for i, v := range sums {
					total[i] += float64(v)
				}
				clear(sums)
			}
		}
	}
	for j := range width {
		for n := range c.N {
			c.grad.Weight[(lo+j)*c.N+n] = F(total[n*width+j])
		}
		if c.grad.Bias != nil {
			c.grad.Bias[lo+j] = F(total[c.N*width+j])
		}
	}
}

// convBlock is the number of products that are summed before their sum is added in float64.
const convBlock = 256
