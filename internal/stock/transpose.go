package stock

import (
	"slices"

	"attention/internal/kernel"
)

// transpose returns the op that writes its input in another order of axes: "Aᵀ{0, 2, 1}". If only axes of length 1
// change places, the result is the input's memory; a product that no other op needs is written directly in the new
// order.
func transpose[F kernel.Float](c call) *Op {
	order := transposition(c.node)
	shape := c.in[0].Shape()
	if order == nil || len(order) != shape.Dims() || !sameSize(c.node, c.in[0]) {
		return nil
	}
	long := slices.DeleteFunc(slices.Clone(order), func(axis int) bool { return shape[axis] == 1 })
	if slices.IsSorted(long) {
		return &Op{by: Nothing}
	}
	back := make([]int, len(order))
	for i, axis := range order {
		back[axis] = i
	}
	if op := productInto[F](c, c.in[0], stored(c.node).permuted(back), 1); op != nil {
		return op
	}
	p := kernel.NewPermutation(shape, order)
	return computes(Kernel, nil, func(y []F, x [][]F) { kernel.Permute(y, x[0], p) })
}
