package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestForgettingOfGates compares the sums, and the gradients of the gates, with separately computed sums.
func TestForgettingOfGates(t *testing.T) {
	a := Attention{B: 2, H: 3, T: 4, S: 7, Unbiased: 1}
	for name, at := range map[string]HeadLayout{"in a row": HeadsInRow(3, 6, 1), "first": HeadsFirst(3, 6, 1)} {
		r := rand.New(rand.NewPCG(1, 2))
		gates, grads, d := normals[float32](r, 36), make([]float32, 36), a.NewForgetting()
		f := ForgettingOf(&a, gates, at)
		copy(d.Query, normals[float64](r, len(d.Query)))
		copy(d.Key, normals[float64](r, len(d.Key)))
		GateGradients(&a, grads, at, d)
		for i := range 6 {
			gate := func(s int) int { return at.at(i/3, i%3, s) }
			for s := range 6 {
				want, grad := 0., 0.
				for j := 0; j <= s; j++ {
					want += float64(gates[gate(j)])
				}
				for j := s; j < 6; j++ {
					grad += d.Key[i*6+j]
					if j >= 2 {
						grad += d.Query[i*4+j-2]
					}
				}
				assert.Equal(t, want, f.Key[i*6+s], "%s: head %d, key %d", name, i, s)
				if s >= 2 {
					assert.Equal(t, want, f.Query[i*4+s-2], "%s: head %d, query %d", name, i, s-2)
				}
				assert.InDelta(t, grad, grads[gate(s)], 1e-5, "%s: head %d, gate %d", name, i, s)
			}
		}
	}
}
