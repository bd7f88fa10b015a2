package dense

import (
	"reflect"
	"unsafe"

	"attention/internal/kernel"
	"attention/internal/mapped"

	"gorgonia.org/tensor"
)

// format is a format of blocks with its name.
type format struct {
	kernel.Format
	name string
}

// formats maps types of blocks to their formats. Packages fill it during initialisation.
var formats = map[tensor.Dtype]*format{}

// BlockType returns a new type of weights that are stored in blocks of a format, for a package's initialisation. The
// shape of a tensor of it is that of its numbers, and its memory, in Raw, are the blocks: Data is of no use.
func BlockType(name string, f kernel.Format) tensor.Dtype {
	byName := reflect.StructField{Name: "Block", Type: reflect.TypeFor[byte](), Tag: reflect.StructTag(name)}
	dt := tensor.Dtype{Type: reflect.StructOf([]reflect.StructField{byName})}
	tensor.Register(dt)
	formats[dt] = &format{f, name}
	return dt
}

// IsStored reports whether a type is of stored weights (BF16 or blocks), which are computed with as float32.
func IsStored(dt tensor.Dtype) bool { return dt == BF16 || formats[dt] != nil }

// StoredMatrix returns a row-major tensor of a stored type as a matrix whose rows have the stride ld.
func StoredMatrix[F kernel.Float](t *tensor.Dense, ld int) kernel.Matrix[F] {
	if t.Dtype() == BF16 {
		return kernel.StoredRows[F](BF16s(t), ld)
	}
	return kernel.BlockRows[F](blocksOf(t), ld)
}

func blocksOf(t *tensor.Dense) *kernel.Blocks {
	return &kernel.Blocks{Format: &formats[t.Dtype()].Format, Data: t.Raw}
}

// ofBlocks returns a tensor whose memory is blocks. The tensor package takes an element for a byte until it is made.
func ofBlocks(dt tensor.Dtype, bytes []byte, isMapped bool, shape tensor.Shape) *tensor.Dense {
	options := []tensor.ConsOpt{tensor.Of(dt), tensor.WithShape(shape...)}
	if isMapped {
		at := uintptr(unsafe.Pointer(unsafe.SliceData(bytes)))
		options = append(options, tensor.FromMemory(at, uintptr(shape.TotalSize())))
	}
	t := tensor.New(options...)
	t.Raw = bytes
	return t
}

// Widen sets y to the elements of a row-major tensor of a stored type from an index on.
func Widen(y []float32, t *tensor.Dense, at int) {
	if t.Dtype() == BF16 {
		kernel.Widen(y, BF16s(t)[at:][:len(y)])
		return
	}
	blocksOf(t).Take(y, at)
}

// Widened returns a tensor with elements of float32 in place of a stored type: a copy, or the tensor itself if it has
// others.
func Widened(t *tensor.Dense) *tensor.Dense {
	if !IsStored(t.Dtype()) {
		return t
	}
	wide := tensor.New(tensor.Of(tensor.Float32), tensor.WithShape(t.Shape()...))
	Widen(wide.Float32s(), t, 0)
	return wide
}

// Release lets a row-major tensor in the memory of a mapped file leave the memory: see mapped.Release.
func Release(t *tensor.Dense) {
	if t.IsManuallyManaged() {
		mapped.Release(t.Raw)
	}
}
