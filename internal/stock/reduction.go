package stock

import (
	"slices"

	"attention/internal/kernel"
)

// sum returns the op of the sums along axes: "Σ[0 2]".
func sum[F kernel.Float](c call) *Op {
	r, ok := reduction(c, "Σ")
	if !ok {
		return nil
	}
	return computes(Kernel, nil, func(y []F, x [][]F) { kernel.SumOver(y, x[0], r, 1) })
}

// maximum returns the op of the largest elements along axes, NaN where one is: "MaxAlong[0 2]".
func maximum[F kernel.Float](c call) *Op {
	r, ok := reduction(c, "MaxAlong")
	if !ok {
		return nil
	}
	return computes(Kernel, nil, func(y []F, x [][]F) { kernel.MaxOver(y, x[0], r) })
}

// reduction reads the axes after a word in the op's text. It reports whether they fit the nodes.
func reduction(c call, word string) (r kernel.Reduction, ok bool) {
	shape := c.in[0].Shape()
	axes, ok := integers(c.text, word+"[", " ", "]")
	if !ok || slices.Contains(shape, 0) || otherAxes(axes, len(shape)) == nil {
		return r, false
	}
	r = kernel.NewReduction(shape, axes)
	return r, r.Outer*r.Inner == c.node.Shape().TotalSize()
}
