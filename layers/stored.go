package layers

import (
	"slices"

	"attention/internal/dense"

	"gorgonia.org/tensor"
)

// NewStoredParams is NewParams for parameters whose values Keep sets, before they are used: until then they have none.
func NewStoredParams(dt tensor.Dtype) *Params {
	p := NewParams(dt, 0)
	p.start = declared
	return p
}

// Keep sets the value of the named parameter to v without copying it; v may be in the memory of a mapped file. v has
// the parameter's shape and row-major elements of its type. A float32 set also accepts stored weights, of graph.BF16 or
// of a GGUF file, which layers widen where they compute with them. Graphs that were built before keep the old value.
//
// A stored parameter cannot be trained: freeze it, or see Widen.
func (p *Params) Keep(name string, v *tensor.Dense) error {
	shape, ok := p.shapes[name]
	switch {
	case !ok:
		return errorf(name, "unknown, want one of %d parameters", p.Len())
	case !dense.IsTensor(v):
		return errorf(name, "got nil, want a tensor")
	case !slices.Equal(v.Shape(), shape):
		return errorf(name, "shape %v, want %v", v.Shape(), shape)
	case v.Dtype() != p.dt && (!dense.IsStored(v.Dtype()) || p.dt != tensor.Float32):
		return errorf(name, "got %s, want %v", dense.TypeName(v.Dtype()), p.dt)
	case !dense.IsRowMajor(v):
		return errorf(name, "got %s, want its elements row by row", dense.Form(v))
	}
	p.values[name] = v
	p.version++
	return nil
}

// Widen converts the parameters that are stored in another type and not frozen to float32, so that Train graphs built
// afterwards can train them. Graphs that were built before keep the stored values. The operating system may drop the
// pages of a mapped file and read them again later.
func (p *Params) Widen() {
	p.version++
	for name, v := range p.values {
		if p.Frozen(name) || !dense.IsStored(v.Dtype()) {
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
