package layers

import (
	"slices"

	"attention/graph"
	"attention/internal/dense"

	"gorgonia.org/tensor"
)

// NewStoredParams is NewParams for parameters whose values Keep sets, before they are used: until then they have none.
func NewStoredParams(dt tensor.Dtype) *Params {
	p := NewParams(dt, 0)
	p.start = declared
	return p
}

// Keep makes v the value of the named parameter as it is: it is not copied, and may lie in the memory of a file. v has
// the parameter's shape and, row by row, elements of its type; in a set of float32 also those of graph.BF16, which
// layers widen where they compute with them. Graphs that were built before do not see it.
//
// A parameter that is stored so is not trained: freeze it, or see Widen.
func (p *Params) Keep(name string, v *tensor.Dense) error {
	shape, ok := p.shapes[name]
	switch {
	case !ok:
		return errorf(name, "unknown, want one of %d parameters", p.Len())
	case !dense.IsTensor(v):
		return errorf(name, "got nil, want a tensor")
	case !slices.Equal(v.Shape(), shape):
		return errorf(name, "shape %v, want %v", v.Shape(), shape)
	case v.Dtype() != p.dt && (v.Dtype() != graph.BF16 || p.dt != tensor.Float32):
		return errorf(name, "got %s, want %v", dense.TypeName(v.Dtype()), p.dt)
	case !dense.IsRowMajor(v):
		return errorf(name, "got %s, want its elements row by row", dense.Form(v))
	}
	p.values[name] = v
	p.version++
	return nil
}

// Widen makes those parameters float32 that are stored as graph.BF16 and not frozen, so that Train graphs that are
// built afterwards can train them. Graphs that were built before keep what is stored; the memory of a file may leave
// memory, until it is read again.
func (p *Params) Widen() {
	p.version++
	for name, v := range p.values {
		if p.Frozen(name) || v.Dtype() != graph.BF16 {
			continue
		}
		p.values[name] = dense.Widened(v)
		dense.Release(v)
	}
}

// Bytes returns the size of all values.
func (p *Params) Bytes() int {
	n := 0
	for _, v := range p.values {
		n += int(v.MemSize())
	}
	return n
}
