package dense

import (
	"fmt"
	"reflect"
	"unsafe"

	"gorgonia.org/tensor"
)

// IsTensor reports whether d is a tensor: neither nil nor the zero value, which has no type.
func IsTensor(d *tensor.Dense) bool { return d != nil && d.Dtype().Type != nil }

// Form returns a tensor's dtype and shape, as in "float32 (2, 3)". A view and a column-major tensor
// have a form that no other tensor has.
func Form(d *tensor.Dense) string {
	switch {
	case d == nil:
		return "nil"
	case d.Dtype().Type == nil:
		return "an empty tensor"
	case d.DataOrder().IsColMajor() && !d.RequiresIterator():
		return fmt.Sprintf("column-major %v %v", d.Dtype(), d.Shape())
	case !IsRowMajor(d):
		return fmt.Sprintf("a view of %v %v", d.Dtype(), d.Shape())
	}
	return fmt.Sprintf("%v %v", d.Dtype(), d.Shape())
}

// SetSlice copies a slice of the same type and length into a row-major tensor.
func SetSlice(to *tensor.Dense, from any) {
	reflect.Copy(reflect.ValueOf(Slice(to)), reflect.ValueOf(from))
}

// Bytes returns the memory of numbers.
func Bytes[F float32 | float64](x []F) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(*new(F))))
}

// FromBytes returns memory as numbers.
func FromBytes[F float32 | float64](b []byte) []F {
	return unsafe.Slice((*F)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(F))))
}

// BytesOf returns the memory of the elements from lo to hi−1 of a row-major tensor of floats or a stored
// type, of whole blocks.
func BytesOf(d *tensor.Dense, lo, hi int) []byte {
	if f := formats[d.Dtype()]; f != nil {
		return d.Raw[lo/f.Numbers*f.Bytes : hi/f.Numbers*f.Bytes]
	}
	if d.Dtype() == BF16 {
		x := d.Data().([]BFloat16)[lo:hi]
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
	}
	if d.Dtype() == tensor.Float32 {
		return Bytes(Floats[float32](d)[lo:hi])
	}
	return Bytes(Floats[float64](d)[lo:hi])
}
