package graph

import (
	"fmt"
	"math"

	"attention/internal/dense"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// ALiBiConfig sets the positions between which ALiBi measures distances.
type ALiBiConfig struct {
	Heads  int // H
	T, S   int // queries and keys
	Offset int // position of query 0, where key 0 is at position 0
}

// ALiBi returns the bias of attention with linear biases (Press, Smith and Lewis 2022):
// the score of query t and key s in head h is changed by
//
//	−slope[h]·|t + Offset − s|
//
// It is a constant of type dt, a relative bias (H, T+S−1) as ExpandRelativeBias takes it.
// Where H is a power of two,
//
//	slope[h] = 2^(−8(h+1)/H)
//
// Other numbers of heads have the slopes of P, the power of two below H, and after them
// every second one of 2P, from the first: slope[h] = 2^(−4(2(h−P)+1)/P) for h ≥ P.
//
// Softmax is invariant to a constant added to all visible scores of a query, so under a
// causal mask, without sinks and extra keys, any Offset ≥ S−1 gives the same weights as
// the true one: a decoder whose position moves from run to run can set Offset to S.
func ALiBi(g *G.ExprGraph, dt tensor.Dtype, c ALiBiConfig) (*G.Node, error) {
	switch {
	case g == nil:
		return nil, &TypeError{"ALiBi", "g", "nil", "a graph"}
	case !dense.IsFloat(dt):
		return nil, &TypeError{"ALiBi", "dt", dense.TypeName(dt), "float32 or float64"}
	case c.Heads < 1:
		return nil, fmt.Errorf("graph: ALiBi: heads: got %d, want at least 1", c.Heads)
	}
	if err := checkLengths("ALiBi", c.T, c.S); err != nil {
		return nil, err
	}
	if !dense.Fits(c.Heads, c.T) || !dense.Fits(c.Heads, c.S) {
		return nil, fmt.Errorf("graph: ALiBi: sizes: got %+v, want at most %d elements", c, dense.MaxElements)
	}
	n := c.T + c.S - 1
	bias := make([]float64, 0, c.Heads*n)
	for _, slope := range alibiSlopes(c.Heads) {
		for i := range n {
			distance := i - (c.S - 1) + c.Offset // t + Offset − s
			bias = append(bias, -slope*math.Abs(float64(distance)))
		}
	}
	// Gorgonia merges inputs of equal name and shape, so the name contains everything that the values depend on.
	name := fmt.Sprintf("ALiBi %v %+v", dt, c)
	return Detach(G.NewMatrix(g, dt, G.WithShape(c.Heads, n), G.WithName(name),
		G.WithValue(dense.Of(dt, bias, c.Heads, n))))
}

// alibiSlopes returns the slopes of the heads.
func alibiSlopes(heads int) []float64 {
	below := 1 // the power of two
	for 2*below <= heads {
		below *= 2
	}
	slopes := make([]float64, heads)
	for h := range slopes {
		exponent := 8 * float64(h+1) / float64(below)
		if h >= below {
			exponent = 8 * float64(2*(h-below)+1) / float64(2*below)
		}
		slopes[h] = math.Exp2(-exponent)
	}
	return slopes
}
