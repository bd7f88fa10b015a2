package stock

import (
	"fmt"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// An operand describes how an op reads a tensor: element (i, j, …) is at i·steps[0] + j·steps[1] + … in a node's
// memory.
type operand struct {
	node         *G.Node
	shape, steps []int
	factor       float64 // of all elements
}

// stored returns a node in its own memory layout.
func stored(n *G.Node) operand {
	o := inRows(n.Shape())
	o.node = n
	return o
}

// inRows returns memory of a shape in row-major order.
func inRows(shape []int) operand {
	o := operand{shape: slices.Clone(shape), steps: make([]int, len(shape)), factor: 1}
	step := 1
	for i := len(o.shape) - 1; i >= 0; i-- {
		o.steps[i] = step
		step *= o.shape[i]
	}
	return o
}

// strided returns a node in the form in which it can be read without computing the transpositions that make it, and
// without computing products with a power of two, which are exact.
func (c call) strided(n *G.Node) operand {
	if order := transposition(n); order != nil {
		return c.strided(c.Inputs(n)[0]).permuted(order)
	}
	if of, factor := c.scaled(n); of != nil {
		o := c.strided(of)
		o.factor *= factor
		return o
	}
	return stored(n)
}

// scaled returns x and the factor for a node that is x times a power of two; nil for other nodes.
func (c call) scaled(n *G.Node) (of *G.Node, factor float64) {
	if n.Op() == nil || Name(n.Op()) != "gorgonia.elemBinOp ⊙" {
		return nil, 0
	}
	in := c.Inputs(n)
	for i, number := range in {
		if factor := powerOfTwo(number); factor != 0 && sameSize(n, in[1-i]) && !in[1-i].IsScalar() {
			return in[1-i], factor
		}
	}
	return nil, 0
}

// powerOfTwo returns the value of a constant that is one, of moderate size; 0 for another node.
func powerOfTwo(n *G.Node) float64 {
	if n.Op() == nil || fmt.Sprintf("%T", n.Op()) != "gorgonia.constantScalar" {
		return 0
	}
	x := 0.0
	switch v := n.Value().(type) {
	case *G.F32:
		x = float64(*v)
	case *G.F64:
		x = float64(*v)
	}
	if fraction, exponent := math.Frexp(x); math.Abs(fraction) == 0.5 && exponent > -30 && exponent < 30 {
		return x
	}
	return 0
}

// permuted returns the operand with other axes: axis i of the result is axis order[i].
func (o operand) permuted(order []int) operand {
	p := operand{node: o.node, factor: o.factor}
	for _, axis := range order {
		p.shape, p.steps = append(p.shape, o.shape[axis]), append(p.steps, o.steps[axis])
	}
	return p
}

// turned returns the operand with its last two axes in the other order.
func (o operand) turned() operand {
	order := make([]int, len(o.shape))
	for i := range order {
		order[i] = i
	}
	slices.Reverse(order[len(order)-2:])
	return o.permuted(order)
}

// matrix returns how a kernel can read the last two axes, if it can: as contiguous rows with a stride, or as the
// transpose of such a matrix.
func (o operand) matrix() (trans bool, stride int, ok bool) {
	last := len(o.shape) - 1
	rows, cols, row, col := o.shape[last-1], o.shape[last], o.steps[last-1], o.steps[last]
	switch {
	case rows == 1 && (cols == 1 || col == 1):
		return false, cols, true
	case cols == 1 && row == 1:
		return true, rows, true
	case (cols == 1 || col == 1) && row >= cols:
		return false, row, true
	case (rows == 1 || row == 1) && col >= rows:
		return true, col, true
	}
	return false, 0, false
}

// transposition returns the order of axes of a Transpose ("Aᵀ{0, 2, 1}"), or nil for another op.
func transposition(n *G.Node) []int {
	if n.Op() == nil || fmt.Sprintf("%T", n.Op()) != "gorgonia.transposeOp" {
		return nil
	}
	order, ok := integers(n.Op().String(), "Aᵀ{", ", ", "}")
	if !ok || len(order) != n.Shape().Dims() {
		return nil
	}
	for i := range order {
		if !slices.Contains(order, i) {
			return nil
		}
	}
	return order
}

// split returns the number of elements of a shape before an axis, along it, and behind it.
func split(s tensor.Shape, axis int) (outer, n, inner int) {
	return s[:axis].TotalSize(), s[axis], s[axis+1:].TotalSize()
}
