package gradcheck

import (
	"fmt"
	"math"

	"attention/internal/dense"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// variable is an input of the copied graph, with its own memory.
type variable struct {
	name  string
	shape tensor.Shape
	data  []float64              // its elements, in row-major order
	write func(i int, x float64) // sets element i; does nothing while no node is bound
}

// bind binds the node, of any shape and of either float type, to the variable's memory.
func (v *variable) bind(n *G.Node) error {
	switch dt := n.Dtype(); {
	case n.IsScalar() && dt == tensor.Float64:
		x := G.NewF64(v.data[0])
		v.write = func(_ int, y float64) { *x = G.F64(y) }
		return G.Let(n, x)
	case n.IsScalar():
		x := G.NewF32(float32(v.data[0]))
		v.write = func(_ int, y float64) { *x = G.F32(y) }
		return G.Let(n, x)
	case dt == tensor.Float64:
		return bindDense[float64](v, n)
	}
	return bindDense[float32](v, n)
}

func bindDense[F float32 | float64](v *variable, n *G.Node) error {
	memory := make([]F, len(v.data))
	for i, x := range v.data {
		memory[i] = F(x)
	}
	v.write = func(i int, x float64) { memory[i] = F(x) }
	return G.Let(n, tensor.New(tensor.WithShape(v.shape...), tensor.WithBacking(memory)))
}

// restore sets element i back to the variable's value.
func (v *variable) restore(i int) { v.write(i, v.data[i]) }

// set copies x into the variable.
func (v *variable) set(x []float64) {
	copy(v.data, x)
	for i := range v.data {
		v.restore(i)
	}
}

// appendFloats appends a value's elements to dst in row-major order.
func appendFloats(dst []float64, v G.Value) ([]float64, error) {
	t, err := dense.RowMajor(v)
	if err != nil {
		return nil, err
	}
	if !dense.IsFloat(t.Dtype()) {
		return nil, fmt.Errorf("got a tensor of %v, want float32 or float64", t.Dtype())
	}
	return append(dst, dense.Float64s(t)...), nil
}

// multiIndex returns the index of the i-th element in row-major order, one number an axis.
func multiIndex(i int, shape tensor.Shape) []int {
	index := make([]int, len(shape))
	for axis := len(shape) - 1; axis >= 0; axis-- {
		index[axis] = i % shape[axis]
		i /= shape[axis]
	}
	return index
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
