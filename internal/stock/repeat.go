package stock

import (
	"fmt"
	"slices"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
)

// repeat returns the op that repeats each element of an axis, "Repeat1", with the number of repetitions from the
// shapes: the op's own number is not read.
func repeat[F kernel.Float](c call) *Op {
	axis, ok := repeatedAxis(c.node)
	if !ok {
		return nil
	}
	_, _, inner := split(c.node.Shape(), axis)
	n, times := c.in[0].Shape().TotalSize(), 0
	if n%inner == 0 && c.node.Shape().TotalSize()%n == 0 {
		times = c.node.Shape().TotalSize() / n
	}
	switch {
	case times == 0:
		return nil
	case times == 1 && !c.in[0].Shape().IsScalar():
		return (&Op{by: Nothing}).reading(c.in[0])
	}
	return loops(nil, n*times/inner, 1+loopGrain/inner, func(y []F, x [][]F, lo, hi int) {
		for lo < hi {
			i := lo / times
			end := min((i+1)*times, hi)
			fill(y[lo*inner:end*inner], x[0][i*inner:(i+1)*inner])
			lo = end
		}
	}).reading(c.in[0])
}

// repeatedAxis returns the axis of a Repeat. It reports whether the node is a Repeat and has the axis.
func repeatedAxis(n *G.Node) (axis int, ok bool) {
	if n.Op() == nil || fmt.Sprintf("%T", n.Op()) != "*gorgonia.repeatOp" {
		return 0, false
	}
	return axisOf(n.Op().String(), "Repeat", "", n.Shape())
}

// fill writes x to y repeatedly.
func fill[F kernel.Float](y, x []F) {
	const cached = 1 << 12 // elements that are then read from the cache
	if len(x) == 1 && len(y) < 32 {
		for i := range y {
			y[i] = x[0]
		}
		return
	}
	for done := copy(y, x); done < len(y); {
		most := max(min(done, cached)/len(x), 1) * len(x)
		done += copy(y[done:], y[:most])
	}
}

// spread returns the node that a node repeats, and its shape with 1 for the axes that are repeated. For a node that
// repeats nothing it returns the node itself.
func (c call) spread(n *G.Node) (base *G.Node, shape []int) {
	base, shape = n, slices.Clone(n.Shape())
	for {
		axis, ok := repeatedAxis(base)
		if !ok || base.Dims() != len(shape) {
			return base, shape
		}
		in := c.Inputs(base)[0]
		if in.Shape().TotalSize()*base.Shape()[axis] != base.Shape().TotalSize() {
			return base, shape // it repeats more than one element
		}
		base, shape[axis] = in, 1
	}
}
