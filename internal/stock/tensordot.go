package stock

import (
	"slices"
	"strings"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// tensordot returns the op of the sum of products along pairs of axes, "Tensordot(aAxes=[1], bAxes=[0])": the product
// of two matrices: one has the summed axes last, the other has them first.
func tensordot[F kernel.Float](c call) *Op {
	left, right, _ := strings.Cut(c.text, ", bAxes=")
	axesA, okA := integers(left, "Tensordot(aAxes=[", " ", "]")
	axesB, okB := integers(right, "[", " ", "])")
	if !okA || !okB || len(axesA) == 0 || !isFloat[F](c.in[1]) {
		return nil
	}
	freeA, freeB := otherAxes(axesA, c.in[0].Dims()), otherAxes(axesB, c.in[1].Dims())
	if freeA == nil || freeB == nil {
		return nil
	}
	a, copyA := asMatrix[F](c.in[0], freeA, axesA)
	b, copyB := asMatrix[F](c.in[1], axesB, freeB)
	op := matrices[F](c, [2][]operand{{a}, {b}}, false, false)
	if op == nil {
		return nil
	}
	op.one = c.node.Shape().IsScalar()
	if copyA == nil && copyB == nil {
		return op
	}
	product := op.run
	op.run = func(out G.Value, in []G.Value) {
		for i, copied := range []func(G.Value) G.Value{copyA, copyB} {
			if copied != nil {
				in[i] = copied(in[i])
			}
		}
		product(out, in)
	}
	return op
}

// otherAxes returns the axes that are not among these; nil if these are not distinct axes.
func otherAxes(axes []int, dims int) []int {
	rest := []int{}
	for i := range dims {
		if !slices.Contains(axes, i) {
			rest = append(rest, i)
		}
	}
	if len(rest)+len(axes) != dims {
		return nil
	}
	return rest
}

// asMatrix returns a tensor as a matrix whose rows and columns are those axes. If it cannot be read in this form, a
// function copies it.
func asMatrix[F kernel.Float](n *G.Node, rows, cols []int) (o operand, copied func(G.Value) G.Value) {
	order := slices.Concat(rows, cols)
	o = stored(n).permuted(order)
	size, step, together := along(o.shape[:len(rows)], o.steps)
	width, stride, too := along(o.shape[len(rows):], o.steps[len(rows):])
	o.shape, o.steps = []int{size, width}, []int{step, stride}
	if _, _, ok := o.matrix(); ok && together && too {
		return o, nil
	}
	o.steps = []int{width, 1}
	p := kernel.NewPermutation(n.Shape(), order)
	var room G.Value
	return o, func(v G.Value) G.Value {
		if room == nil {
			room = tensor.New(tensor.WithBacking(make([]F, size*width)))
		}
		kernel.Permute(dense.Floats[F](room), dense.Floats[F](v), p)
		return room
	}
}

// along returns the length of several axes read as one, the step of its elements, and whether they have one.
func along(shape, steps []int) (n, step int, ok bool) {
	n, step = 1, 1
	for i := len(shape) - 1; i >= 0; i-- {
		switch {
		case shape[i] == 1:
			continue
		case n == 1:
			step = steps[i]
		case steps[i] != n*step:
			return tensor.Shape(shape).TotalSize(), 0, false
		}
		n *= shape[i]
	}
	return n, step, true
}
