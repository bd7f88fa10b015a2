package train

import (
	"reflect"

	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// isTensor reports whether d is a tensor: neither nil nor the zero value, which has no type.
func isTensor(d *tensor.Dense) bool { return d != nil && d.Dtype().Type != nil }

// elements returns the memory behind a contiguous tensor of F.
func elements[F kernel.Float](d *tensor.Dense) []F { return elementsOf(d).([]F) }

// elementsOf returns the memory behind a contiguous tensor, as a slice also for a scalar.
func elementsOf(d *tensor.Dense) any {
	switch d.Dtype() {
	case tensor.Float32:
		return d.Float32s()
	case tensor.Float64:
		return d.Float64s()
	case tensor.Int64:
		return d.Int64s()
	case tensor.Int:
		return d.Ints()
	case tensor.Int32:
		return d.Int32s()
	case tensor.Int16:
		return d.Int16s()
	case tensor.Int8:
		return d.Int8s()
	case tensor.Uint8:
		return d.Uint8s()
	case tensor.Bool:
		return d.Bools()
	}
	return d.Data()
}

// setElements copies a slice of the same type and length into a contiguous tensor.
func setElements(to *tensor.Dense, from any) {
	reflect.Copy(reflect.ValueOf(elementsOf(to)), reflect.ValueOf(from))
}
