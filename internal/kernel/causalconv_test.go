package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// naiveConv is a CausalConv, one number at a time.
//
//go:norace
func naiveConv(c CausalConv, in ConvOperands[float64]) []float64 {
	y := make([]float64, c.B*c.T*c.C)
	for i := range y {
		b, t, ch := i/c.C/c.T, i/c.C%c.T, i%c.C
		if in.Bias != nil {
			y[i] = in.Bias[ch]
		}
		for n := range c.N {
			if x := in.at(c, b, t-c.N+1+n); x != nil {
				y[i] += x[ch] * in.Weight[ch*c.N+n]
			}
		}
	}
	return y
}

// TestCausalConv compares outputs with the formula, and gradients with its central differences, which are exact because
// the loss is linear in each number.
func TestCausalConv(t *testing.T) {
	for _, c := range []CausalConv{{1, 1, 1, 1}, {2, 1, 3, 4}, {2, 7, 5, 4}, {1, 300, 130, 3}, {3, 2, 17, 5}} {
		for _, optional := range []bool{false, true} {
			r := rand.New(rand.NewPCG(5, 6))
			numbers := func(n int) []float64 {
				x := make([]float64, n)
				for i := range x {
					x[i] = float64(float32(2*r.Float64() - 1))
				}
				return x
			}
			in := ConvOperands[float64]{X: numbers(c.B * c.T * c.C), Weight: numbers(c.C * c.N)}
			grad := ConvOperands[float64]{X: numbers(len(in.X)), Weight: numbers(len(in.Weight))}
			if optional {
				in.Bias, in.State = numbers(c.C), numbers(c.B*(c.N-1)*c.C)
				grad.Bias, grad.State = numbers(c.C), numbers(len(in.State))
			}
			y, dy := numbers(len(in.X)), numbers(len(in.X))
			CausalConvForward(c, y, in)
			near(t, fmt.Sprint(c), naiveConv(c, in), y, 1e-13)
			CausalConvBackward(c, grad, dy, in)
			loss := func() (sum float64) {
				for i, v := range naiveConv(c, in) {
					sum += v * dy[i]
				}
				return sum
			}
			got := [][]float64{grad.X, grad.Weight, grad.Bias, grad.State}
			for i, x := range [][]float64{in.X, in.Weight, in.Bias, in.State} {
				for n := 0; n < len(x); n += 1 + len(x)/31 {
					v := x[n]
					x[n] = v + 0.5
					up := loss()
					x[n] = v - 0.5
					require.InDelta(t, up-loss(), got[i][n], 1e-10, "%v gradient %d at %d", c, i, n)
					x[n] = v
				}
				for _, v := range got[i] {
					require.False(t, math.IsNaN(v))
				}
			}
		}
	}
}
