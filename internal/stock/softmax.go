package stock

import (
	"strings"

	"attention/internal/kernel"
)

// softmax returns the op of SoftMax or LogSoftMax: "Softmax{axis, log}()". A row of −∞ only, for which the quotient is
// undefined, gives zeros (−∞ for the logarithm) and no gradient.
func softmax[F kernel.Float](c call) *Op {
	columns, ok := distributions(c, "Softmax{")
	if !ok {
		return nil
	}
	run := func(y, x []F) { kernel.SoftmaxColumns(y, x, columns) }
	switch {
	case columns.Inner > 1:
	case columns.Log:
		run = func(y, x []F) { kernel.LogSoftmax(y, x, columns.N) }
	default:
		run = func(y, x []F) { kernel.Softmax(y, x, columns.N) }
	}
	return computes(Kernel, []int{0}, func(y []F, x [][]F) { run(y, x[0]) })
}

// softmaxBackward returns the op of their gradient, "SoftmaxDiff{axis, log}()", computed from the output and its
// gradient; the input does not matter.
func softmaxBackward[F kernel.Float](c call) *Op {
	columns, ok := distributions(c, "SoftmaxDiff{")
	if !ok || !sameSize(c.in...) {
		return nil
	}
	run := func(dx, y, dy []F) { kernel.SoftmaxColumnsBackward(dx, y, dy, columns) }
	switch {
	case columns.Inner > 1:
	case columns.Log:
		run = func(dx, y, dy []F) { kernel.LogSoftmaxBackward(dx, y, dy, columns.N) }
	default:
		run = func(dx, y, dy []F) { kernel.SoftmaxBackward(dx, y, dy, columns.N) }
	}
	return computes(Kernel, []int{0, 1}, func(dx []F, x [][]F) { run(dx, x[0], x[1]) }).reading(c.in[1], c.in[2])
}

// distributions reads an op's text: the axis along which elements make a distribution, and whether the op returns
// logarithms.
func distributions(c call, name string) (columns kernel.Columns, ok bool) {
	text, log, cut := strings.Cut(c.text, ", ")
	axis, ok := integers(text, name, " ", "")
	shape := c.in[0].Shape()
	if !ok || !cut || len(axis) != 1 || shape.Dims() == 0 || !sameSize(c.node, c.in[0]) {
		return columns, false
	}
	at := (axis[0]%shape.Dims() + shape.Dims()) % shape.Dims() // the meaning that Gorgonia gives an axis out of range
	if axis[0] == -1 && shape.IsColVec() {
		at = 0 // for the gradient too, for which Gorgonia uses the other axis
	}
	_, columns.N, columns.Inner = split(shape, at)
	columns.Log = log == "true}()"
	return columns, columns.Log || log == "false}()"
}
