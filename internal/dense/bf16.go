package dense

import (
	"reflect"
	"unsafe"

	"gorgonia.org/tensor"
)

// BFloat16 is a number in bfloat16: the upper half of a float32.
type BFloat16 uint16

// BF16 is the type of the elements of a stored weight.
var BF16 = tensor.Dtype{Type: reflect.TypeFor[BFloat16]()}

func init() { tensor.Register(BF16) }

// BF16s returns the memory of a row-major tensor of BF16.
func BF16s(t *tensor.Dense) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(t.Data().([]BFloat16)))), t.Shape().TotalSize())
}

// OfBytes returns a tensor whose memory is bytes, which hold its elements: of float32, float64 or a stored type. Bytes
// of a mapped file are marked: the tensor's IsManuallyManaged reports this.
func OfBytes(dt tensor.Dtype, bytes []byte, isMapped bool, shape ...int) *tensor.Dense {
	if formats[dt] != nil {
		return ofBlocks(dt, bytes, isMapped, shape)
	}
	at := unsafe.SliceData(bytes)
	if isMapped {
		return tensor.New(tensor.Of(dt), tensor.WithShape(shape...),
			tensor.FromMemory(uintptr(unsafe.Pointer(at)), uintptr(len(bytes))))
	}
	var backing any
	switch n := len(bytes) / int(dt.Size()); dt {
	case tensor.Float32:
		backing = unsafe.Slice((*float32)(unsafe.Pointer(at)), n)
	case tensor.Float64:
		backing = unsafe.Slice((*float64)(unsafe.Pointer(at)), n)
	default:
		backing = unsafe.Slice((*BFloat16)(unsafe.Pointer(at)), n)
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(backing))
}
