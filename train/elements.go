package train

import (
	"reflect"
	"unsafe"

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

// asBytes returns the memory of a slice.
func asBytes[F kernel.Float](x []F) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(*new(F))))
}

// fromBytes returns memory as a slice of numbers.
func fromBytes[F kernel.Float](b []byte) []F {
	return unsafe.Slice((*F)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(F))))
}

// part returns some elements of a contiguous tensor of F.
func part[F kernel.Float](d *tensor.Dense, s span) []F { return elements[F](d)[s.lo:s.hi] }

// bytesOfPart returns the memory of some elements of a tensor of floats.
func bytesOfPart(d *tensor.Dense, s span) []byte {
	if d.Dtype() == tensor.Float32 {
		return asBytes(part[float32](d, s))
	}
	return asBytes(part[float64](d, s))
}

// scalePart writes c·x to y, which may be x, for some elements; both are of one dtype and shape.
func scalePart(y, x *tensor.Dense, s span, c float64) {
	if x.Dtype() == tensor.Float32 {
		kernel.Scale(part[float32](y, s), part[float32](x, s), float32(c))
	} else {
		kernel.Scale(part[float64](y, s), part[float64](x, s), c)
	}
}

// sumSquares returns Σ x² over some elements.
func sumSquares(x *tensor.Dense, s span) float64 {
	if x.Dtype() == tensor.Float32 {
		return kernel.SumSquares(part[float32](x, s))
	}
	return kernel.SumSquares(part[float64](x, s))
}

// wholeOf returns all elements of a contiguous tensor of floats.
func wholeOf(d *tensor.Dense) span {
	if d.Dtype() == tensor.Float32 {
		return span{0, len(d.Float32s())}
	}
	return span{0, len(d.Float64s())}
}
