package stock_test

import (
	"math/rand/v2"

	tensors "attention/internal/dense"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// numbersFor returns numbers of either sign, different for each input.
func numbersFor(input, n int) []float64 {
	r := rand.New(rand.NewPCG(uint64(input), 9))
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(float32(r.NormFloat64()))
	}
	return x
}

func dense(dt tensor.Dtype, x []float64, shape ...int) *tensor.Dense {
	if dt == tensor.Float64 {
		return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(append([]float64{}, x...)))
	}
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(y))
}

// The memory layouts of a tensor: contiguous, part of a larger tensor, with permuted axes, or column-major.

func asIs(x *tensor.Dense) *tensor.Dense { return x }

func asView(x *tensor.Dense) *tensor.Dense {
	wide := x.Shape().Clone()
	last := len(wide) - 1
	n := wide[last]
	if n == 1 { // a slice of one drops the axis
		return x
	}
	wide[last] += 2
	y := make([]float64, wide.TotalSize())
	for i, v := range tensors.Float64s(x) {
		y[i/n*(n+2)+1+i%n] = v
	}
	slices := make([]tensor.Slice, len(wide))
	slices[last] = G.S(1, n+1)
	s, err := dense(x.Dtype(), y, wide...).Slice(slices...)
	if err != nil {
		panic(err)
	}
	return s.(*tensor.Dense)
}

func asTransposed(x *tensor.Dense) *tensor.Dense {
	if x.Dims() < 2 || x.Shape().TotalSize() == 1 || x.Shape().IsVector() {
		return x
	}
	y := x.Clone().(*tensor.Dense)
	if err := y.T(); err != nil {
		panic(err)
	}
	if err := y.Transpose(); err != nil { // in memory
		panic(err)
	}
	if err := y.T(); err != nil { // and back, in the view alone
		panic(err)
	}
	return y
}

func asColumns(x *tensor.Dense) *tensor.Dense {
	if x.Dims() < 2 {
		return x
	}
	y := tensor.New(tensor.Of(x.Dtype()), tensor.WithShape(x.Shape()...), tensor.AsFortran(nil))
	at := make([]int, x.Dims())
	for i := range x.Shape().TotalSize() {
		rest := i
		for axis := x.Dims() - 1; axis >= 0; axis-- {
			at[axis] = rest % x.Shape()[axis]
			rest /= x.Shape()[axis]
		}
		v, err := x.At(at...)
		if err == nil {
			err = y.SetAt(v, at...)
		}
		if err != nil {
			panic(err)
		}
	}
	return y
}
