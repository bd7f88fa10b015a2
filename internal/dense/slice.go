package dense

import "gorgonia.org/tensor"

// Slice returns the memory of a contiguous tensor, which is a slice for a tensor without axes
// too.
func Slice(t *tensor.Dense) any {
	switch t.Dtype() {
	case tensor.Float32:
		return t.Float32s()
	case tensor.Float64:
		return t.Float64s()
	case tensor.Int64:
		return t.Int64s()
	case tensor.Int:
		return t.Ints()
	case tensor.Int32:
		return t.Int32s()
	case tensor.Int16:
		return t.Int16s()
	case tensor.Int8:
		return t.Int8s()
	case tensor.Uint:
		return t.Uints()
	case tensor.Uint8:
		return t.Uint8s()
	case tensor.Uint16:
		return t.Uint16s()
	case tensor.Uint32:
		return t.Uint32s()
	case tensor.Uint64:
		return t.Uint64s()
	case tensor.Bool:
		return t.Bools()
	}
	return t.Data()
}
