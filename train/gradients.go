package train

import (
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// gradients holds the gradients of a run, either in the machine's memory or as copies.
type gradients struct {
	values []*tensor.Dense // of the last run, in the graph
	copies []*tensor.Dense // copies of gradients that must not be overwritten, else nil
}

// readGradients sets the parameters' Grad to the gradients of the last run. Each gradient is in the machine's memory,
// which the next run overwrites, or in a copy, which all programs of a step share.
func (pr *program) readGradients(params []Param, copies []*tensor.Dense) error {
	values, err := dense.Tensors(pr.grads)
	if err != nil {
		return fmt.Errorf("gradient: %w", err)
	}
	g := &pr.gradients
	if !slices.Equal(g.values, values) { // in the first run, or the first after a new plan of the machine
		*g = gradients{values, make([]*tensor.Dense, len(values))}
		for i, p := range params {
			if pr.isAlone(i, p.Value.Shape()) {
				continue
			}
			if copies[i] == nil {
				copies[i] = newLike(p.Value)
			}
			g.copies[i] = copies[i]
		}
	}
	for i, v := range values {
		params[i].Grad = v
		c := g.copies[i]
		if c == nil {
			continue
		}
		if params[i].Grad = c; dense.IsRowMajor(v) {
			scaleTensor(c, v, 1) // a copy, on all cores
		} else if err := tensor.Copy(c, v); err != nil {
			return fmt.Errorf("gradient of %s: %w", params[i].Name, err)
		}
	}
	return nil
}

// isAlone reports whether a gradient may be overwritten: it has the parameter's shape, and no other value that outlives
// the run, such as an input or another gradient, shares its memory.
func (pr *program) isAlone(i int, shape tensor.Shape) bool {
	v := pr.gradients.values[i]
	if !pr.machine.Owns(v) || !dense.IsRowMajor(v) || !slices.Equal(v.Shape(), shape) {
		return false
	}
	for j, other := range pr.gradients.values {
		if j != i && v.Uintptr() < other.Uintptr()+other.MemSize() && other.Uintptr() < v.Uintptr()+v.MemSize() {
			return false
		}
	}
	return true
}

// newLike returns a new tensor of another's type and shape.
func newLike(d *tensor.Dense) *tensor.Dense {
	return tensor.New(tensor.Of(d.Dtype()), tensor.WithShape(d.Shape().Clone()...))
}

// Span is the elements from Lo to Hi−1 of a parameter, or of the concatenation of all parameters.
type Span struct{ Lo, Hi int }

// Len returns the number of elements.
func (s Span) Len() int { return s.Hi - s.Lo }

// wholeOf returns all elements of a tensor.
func wholeOf(d *tensor.Dense) Span { return Span{0, d.Shape().TotalSize()} }

// part returns the given elements of a row-major tensor of type F.
func part[F kernel.Float](d *tensor.Dense, s Span) []F { return dense.Floats[F](d)[s.Lo:s.Hi] }

// scalePart writes c·x to y, which may be x, for the given elements; x and y have the same dtype and shape.
func scalePart(y, x *tensor.Dense, s Span, c float64) {
	dense.ByType(x.Dtype(), scale[float32], scale[float64])(y, x, s, c)
}

func scale[F kernel.Float](y, x *tensor.Dense, s Span, c float64) {
	kernel.Scale(part[F](y, s), part[F](x, s), F(c))
}

// sumSquares returns Σ x² over the given elements.
func sumSquares(x *tensor.Dense, s Span) float64 {
	return dense.ByType(x.Dtype(), squares[float32], squares[float64])(x, s)
}

func squares[F kernel.Float](x *tensor.Dense, s Span) float64 {
	return kernel.SumSquares(part[F](x, s))
}

// scaleTensor writes c·x to y, which may be x; x and y have the same dtype and shape.
func scaleTensor(y, x *tensor.Dense, c float64) { scalePart(y, x, wholeOf(x), c) }

// add adds x to y; both have the same dtype and shape.
func add[F kernel.Float](y, x *tensor.Dense) {
	kernel.AddRows(dense.Floats[F](y), dense.Floats[F](y), dense.Floats[F](x))
}
