package stock

import (
	"fmt"

	"attention/internal/dense"
	"attention/internal/kernel"
	"attention/internal/parallel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// lookup returns the op that gathers elements along an axis by integer indices: "ByIndicesOp{axis=0}".
func lookup[F kernel.Float](c call) *Op {
	l := lookupAlong(c, "ByIndicesOp{axis=", "}", c.in[1], c.node)
	if l == nil {
		return nil
	}
	var y, x []F
	part := func(lo, hi int) {
		for i := lo; i < hi; i++ {
			from := (i/len(l.indices)*l.n + l.indices[i%len(l.indices)]) * l.inner
			copy(y[i*l.inner:(i+1)*l.inner], x[from:])
		}
	}
	op := runs(Loop, nil, func(out G.Value, in []G.Value) {
		y, x = dense.Floats[F](out), dense.Floats[F](in[0])
		parallel.For(l.outer*len(l.indices), 1+loopGrain/l.inner, part)
		y, x = nil, nil
	})
	op.check = func(in []G.Value) error { return l.read(in[1]) }
	return op
}

// lookupBackward returns the op of a lookup's gradient, "ByIndicesOpDiff{}(0)": the gradient of an element is the sum
// of the gradients of its copies.
func lookupBackward[F kernel.Float](c call) *Op {
	l := lookupAlong(c, "ByIndicesOpDiff{}(", ")", c.in[2], c.in[1])
	if l == nil || !isFloat[F](c.in[1]) || !sameSize(c.node, c.in[0]) {
		return nil
	}
	var y, x []F
	// Goroutines divide the elements of a position, so that the order of each sum is fixed.
	part := func(lo, hi int) {
		for i := lo; i < hi; {
			o, from := i/l.inner, i%l.inner
			width := min(l.inner-from, hi-i)
			for j, place := range l.indices {
				to := y[(o*l.n+place)*l.inner+from:][:width]
				for k, v := range x[(o*len(l.indices)+j)*l.inner+from:][:width] {
					to[k] += v
				}
			}
			i += width
		}
	}
	op := runs(Loop, nil, func(out G.Value, in []G.Value) {
		y, x = dense.Floats[F](out), dense.Floats[F](in[0])
		clear(y)
		parallel.For(l.outer*l.inner, 1+loopGrain/len(l.indices), part)
		y, x = nil, nil
	}).reading(c.in[1], c.in[2])
	op.check = func(in []G.Value) error { return l.read(in[1]) }
	return op
}

// places describe the positions from which a lookup copies: a tensor that is read as (outer, n, inner).
type places struct {
	outer, n, inner int
	indices         []int
}

// lookupAlong returns the places of a lookup of a tensor, the first input, along the axis that the op's text has
// between before and after.
func lookupAlong(c call, before, after string, indices, taken *G.Node) *places {
	shape := c.in[0].Shape()
	axis, ok := axisOf(c.text, before, after, shape)
	if !ok || indices.Dtype() != tensor.Int {
		return nil
	}
	l := &places{}
	l.outer, l.n, l.inner = split(shape, axis)
	if l.outer*indices.Shape().TotalSize()*l.inner != taken.Shape().TotalSize() {
		return nil
	}
	return l
}

// read reads the indices, or returns an error if one is outside the axis.
func (l *places) read(v G.Value) error {
	d, ok := v.(*tensor.Dense)
	if !ok {
		return fmt.Errorf("indices: got a %T, want a *tensor.Dense", v)
	}
	l.indices = d.Ints()
	for _, i := range l.indices {
		if i < 0 || i >= l.n {
			return fmt.Errorf("index: got %d, want 0 to %d", i, l.n-1)
		}
	}
	return nil
}

// at returns the op of one element: "At([1 2])".
func at[F kernel.Float](c call) *Op {
	place, ok := integers(c.text, "At([", " ", "])")
	shape := c.in[0].Shape()
	if !ok || len(place) != shape.Dims() || c.node.Shape().TotalSize() != 1 {
		return nil
	}
	from := 0
	for axis, i := range place {
		if i < 0 || i >= shape[axis] {
			return nil
		}
		from = from*shape[axis] + i
	}
	return computes(Loop, nil, func(y []F, x [][]F) { y[0] = x[0][from] })
}
