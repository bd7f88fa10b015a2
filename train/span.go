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
	dense.ByType(x.Dtype(), scale[float32], scale[float64])(y, x, s, c)
}

func scale[F kernel.Float](y, x *tensor.Dense, s Span, c float64) {
	kernel.Scale(part[F](y, s), part[F](x, s), F(c))
}

// sumSquares returns Σ x² over some elements.
func sumSquares(x *tensor.Dense, s Span) float64 {
	return dense.ByType(x.Dtype(), squares[float32], squares[float64])(x, s)
}

func squares[F kernel.Float](x *tensor.Dense, s Span) float64 {
	return kernel.SumSquares(part[F](x, s))
}

// scaleTensor writes c·x to y, which may be x; both have one dtype and shape.
func scaleTensor(y, x *tensor.Dense, c float64) { scalePart(y, x, wholeOf(x), c) }

// addTensor adds x to y; both have one dtype and shape.
func addTensor(y, x *tensor.Dense) { dense.ByType(x.Dtype(), add[float32], add[float64])(y, x) }

func add[F kernel.Float](y, x *tensor.Dense) {
	kernel.AddRows(dense.Floats[F](y), dense.Floats[F](y), dense.Floats[F](x))
}
