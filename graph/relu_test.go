package graph_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
)

// Negative numbers and both zeros become 0 and pass no gradient; NaN stays NaN; on both
// machines, into memory that holds anything. The sizes are below and above what is
// done by several goroutines.
func TestReLU(t *testing.T) {
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1e-30, -1e-30}
	for _, n := range []int{len(special), 70001} {
		for _, p := range tolerances {
			r := rand.New(rand.NewPCG(1, 2))
			x, dout := normal(r, n), normal(r, n)
			copy(x.v, special)
			for i, v := range x.v { // exact in either type
				x.v[i], dout.v[i] = float64(float32(v)), float64(float32(dout.v[i]))
			}
			in := floats(x)
			e := express(t, unary(graph.ReLU), in, p.dt)
			e.differentiate(t, in, dout, p.dt)
			y, dx := zeros(n), zeros(n)
			for i, v := range x.v {
				if v > 0 || math.IsNaN(v) {
					y.v[i], dx.v[i] = v, dout.v[i]
				}
			}
			for _, got := range []result{e.onOurs(t), e.onTape(t)} {
				require.Equal(t, bits(y), bits(got.out))
				require.Equal(t, bits(dx), bits(got.grads[0]))
			}
			require.Positive(t, overwriteAll(t, e.g))
		}
	}
}
