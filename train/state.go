package train

import (
	"fmt"

	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// NamedTensor is one entry of a solver's state.
type NamedTensor struct {
	Name  string
	Value *tensor.Dense
}

// zerosLike returns a tensor of a parameter's dtype and shape, all zero.
func zerosLike(s slot) *tensor.Dense {
	return tensor.New(tensor.Of(s.dtype), tensor.WithShape(s.shape.Clone()...))
}

// match brings a given state into the order of have, or says everything that
// keeps it from fitting.
func match(have, given []NamedTensor) ([]*tensor.Dense, error) {
	if err := compareForms(formsOf("", have), formsOf("", given)); err != nil {
		return nil, fmt.Errorf("train: solver state: %w", err)
	}
	byName := make(map[string]*tensor.Dense, len(given))
	for _, g := range given {
		byName[g.Name] = g.Value
	}
	ordered := make([]*tensor.Dense, len(have))
	for i, h := range have {
		ordered[i] = byName[h.Name]
	}
	return ordered, nil
}

// copyState overwrites have by values that match returned.
func copyState(have []NamedTensor, values []*tensor.Dense) {
	for i, h := range have {
		copyData(h.Value, data(values[i]))
	}
}

// data is what lies behind a contiguous tensor, a slice also for a scalar.
func data(d *tensor.Dense) any {
	switch d.Dtype() {
	case tensor.Float32:
		return d.Float32s()
	case tensor.Float64:
		return d.Float64s()
	case tensor.Int64:
		return d.Int64s()
	}
	return d.Data()
}

// copyData overwrites what lies behind a contiguous tensor by a slice of the same
// type and length.
func copyData(to *tensor.Dense, from any) {
	switch from := from.(type) {
	case []float32:
		copy(to.Float32s(), from)
	case []float64:
		copy(to.Float64s(), from)
	case []int64:
		copy(to.Int64s(), from)
	}
}

// elements returns the data behind a contiguous tensor of F, not a copy.
func elements[F kernel.Float](d *tensor.Dense) []F {
	var zero F
	if _, ok := any(zero).(float32); ok {
		return any(d.Float32s()).([]F)
	}
	return any(d.Float64s()).([]F)
}
