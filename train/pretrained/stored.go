package pretrained

import (
	"slices"
	"unsafe"

	"attention/internal/dense"
	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// leastMapped is the smallest size in bytes of a tensor that is used in the file's memory. Smaller tensors, such as
// norms and biases, are copied and checked when they are read.
const leastMapped = 1 << 16

// storedAs returns the element type that a parameter has if a tensor in a file is used without conversion; ok reports
// whether this is possible. Matrices in bfloat16 stay in bfloat16. Other tensors that do not have the parameter's type
// are converted.
func storedAs(d safetensors.DType, dt tensor.Dtype, axes int) (kept tensor.Dtype, ok bool) {
	switch {
	case d == safetensors.F32 && dt == tensor.Float32, d == safetensors.F64 && dt == tensor.Float64:
		return dt, true
	case d == safetensors.BF16 && dt == tensor.Float32 && axes > 1:
		return dense.BF16, true
	}
	return dt, false
}

// value returns the value of a parameter of a type and shape from its place in the file: the file's memory if it can be
// used without a copy.
func (w *weights) value(dt tensor.Dtype, at place, shape tensor.Shape) (*tensor.Dense, error) {
	t := w.tensors[at.name]
	kept, ok := storedAs(t.DType, dt, len(shape))
	if !ok {
		return dense.ByType(dt, converted[float32], converted[float64])(t, at, shape)
	}
	from, isMapped, err := t.file.Bytes(t.Name)
	if err != nil {
		return nil, err
	}
	aligned := uintptr(unsafe.Pointer(unsafe.SliceData(from)))%kept.Size() == 0
	if isMapped && (!aligned || len(from) < leastMapped) {
		from, isMapped = slices.Clone(from), false
	}
	if !at.plain() {
		to := tensor.New(tensor.Of(kept), tensor.WithShape(shape...))
		at.arrange(dense.BytesOf(to, 0, shape.TotalSize()), from, t.Shape, int(kept.Size()))
		return to, nil
	}
	return dense.OfBytes(kept, from, isMapped, shape...), nil
}

// converted returns the value of a parameter whose elements have another type in the file.
func converted[F float32 | float64](t stored, at place, shape tensor.Shape) (*tensor.Dense, error) {
	data := make([]F, tensor.Shape(t.Shape).TotalSize())
	if err := safetensors.ReadFloats(t.file, t.Name, data); err != nil {
		return nil, err
	}
	if !at.plain() {
		arranged := make([]F, shape.TotalSize())
		at.arrange(dense.Bytes(arranged), dense.Bytes(data), t.Shape, int(unsafe.Sizeof(data[0])))
		data = arranged
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(data)), nil
}

// plain reports whether a parameter is a whole tensor that is not transposed.
func (at place) plain() bool { return !at.transposed && at.of == 0 }

// arrange fills dst with the elements of a place from a tensor of a shape. size is the number of bytes of an element.
func (at place) arrange(dst, src []byte, shape []int, size int) {
	if at.transposed {
		switch columns := shape[1]; size {
		case 2:
			transpose(elementsOf[uint16](dst), elementsOf[uint16](src), columns)
		case 4:
			transpose(elementsOf[uint32](dst), elementsOf[uint32](src), columns)
		default:
			transpose(elementsOf[uint64](dst), elementsOf[uint64](src), columns)
		}
		return
	}
	n := at.headDim * (len(src) / shape[0]) // bytes per head
	for i := 0; i < len(dst); i += n {
		copy(dst[i:i+n], src[i*at.of+at.part*n:])
	}
}

// elementsOf returns bytes as a slice of elements.
func elementsOf[E any](b []byte) []E {
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(E))))
}

// transpose sets dst to the transpose of src, a matrix with the given columns.
func transpose[E any](dst, src []E, columns int) {
	rows := len(src) / columns
	for i := range rows {
		for j, v := range src[i*columns:][:columns] {
			dst[j*rows+i] = v
		}
	}
}
