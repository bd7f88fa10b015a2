package train

import (
	"attention/internal/dense"
	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// Span is the elements from Lo to Hi−1 of a parameter, or of all parameters one after the other.
type Span struct{ Lo, Hi int }

// Len returns the number of elements.
func (s Span) Len() int { return s.Hi - s.Lo }

// wholeOf returns all elements of a tensor.
func wholeOf(d *tensor.Dense) Span { return Span{0, d.Shape().TotalSize()} }

// part returns some elements of a row-major tensor of F.
func part[F kernel.Float](d *tensor.Dense, s Span) []F { return dense.Floats[F](d)[s.Lo:s.Hi] }

// scalePart writes c·x to y, which may be x, for some elements; both have one dtype and shape.
func scalePart(y, x *tensor.Dense, s Span, c float64) {
	if x.Dtype() == tensor.Float32 {
		kernel.Scale(part[float32](y, s), part[float32](x, s), float32(c))
	} else {
		kernel.Scale(part[float64](y, s), part[float64](x, s), c)
	}
}

// sumSquares returns Σ x² over some elements.
func sumSquares(x *tensor.Dense, s Span) float64 {
	if x.Dtype() == tensor.Float32 {
		return kernel.SumSquares(part[float32](x, s))
	}
	return kernel.SumSquares(part[float64](x, s))
}

// scaleTensor writes c·x to y, which may be x; both have one dtype and shape.
func scaleTensor(y, x *tensor.Dense, c float64) { scalePart(y, x, wholeOf(x), c) }

// addTensor adds x to y; both have one dtype and shape.
func addTensor(y, x *tensor.Dense) {
	if x.Dtype() == tensor.Float32 {
		kernel.AddRows(y.Float32s(), y.Float32s(), x.Float32s())
	} else {
		kernel.AddRows(y.Float64s(), y.Float64s(), x.Float64s())
	}
}
