// Package safetensors reads and writes the safetensors format: tensors as names, shapes and
// plain Go slices.
//
// A file is, in this order:
//
//	8 bytes   N, the header's length, unsigned, little endian
//	N bytes   the header: one JSON object in UTF-8, padded with spaces
//	the rest  the elements of all tensors, little endian, row-major
//
// The header maps each tensor's name to its dtype, its shape and its two data
// offsets, counted from the end of the header. The optional key __metadata__
// maps strings to strings. Tensors cover the data without holes or overlaps.
//
// A file may be hostile: [Open] checks every number before it uses it, returns an error for
// a bad file, and never allocates much more than the file's size.
package safetensors

import "reflect"

// DType is an element type, spelled as in the file's header.
type DType string

// The element types that this package reads.
const (
	F64  DType = "F64"
	F32  DType = "F32"
	F16  DType = "F16"  // IEEE 754 half precision; read widened to float32, written from a Stream
	BF16 DType = "BF16" // the upper half of a float32; read widened to float32, written from a Stream
	I64  DType = "I64"
	I32  DType = "I32"
	I16  DType = "I16"
	I8   DType = "I8"
	U8   DType = "U8"
	BOOL DType = "BOOL" // one byte an element, 0 or 1
)

// knownDTypes lists the element types in an error.
const knownDTypes = "F64, F32, F16, BF16, I64, I32, I16, I8, U8 or BOOL"

// dtypes has the bytes of an element in a file and the type of Tensor.Data.
var dtypes = map[DType]struct {
	size int
	data reflect.Type
}{
	F64:  {8, reflect.TypeFor[[]float64]()},
	F32:  {4, reflect.TypeFor[[]float32]()},
	F16:  {2, reflect.TypeFor[[]float32]()},
	BF16: {2, reflect.TypeFor[[]float32]()},
	I64:  {8, reflect.TypeFor[[]int64]()},
	I32:  {4, reflect.TypeFor[[]int32]()},
	I16:  {2, reflect.TypeFor[[]int16]()},
	I8:   {1, reflect.TypeFor[[]int8]()},
	U8:   {1, reflect.TypeFor[[]uint8]()},
	BOOL: {1, reflect.TypeFor[[]bool]()},
}

// Size returns the bytes of one element in a file, or 0 for an unknown dtype.
func (d DType) Size() int { return dtypes[d].size }

// Element returns the type of an element after reading, such as float32 for BF16. The dtype must be known.
func (d DType) Element() reflect.Type { return dtypes[d].data.Elem() }

// dtypeOf returns the dtype that data are written as, or "" if there is none.
func dtypeOf(data any) DType {
	if s, ok := data.(Stream); ok {
		if s.Each == nil || s.DType.Size() == 0 {
			return ""
		}
		return s.DType
	}
	for d, known := range dtypes {
		if reflect.TypeOf(data) == known.data && d != F16 && d != BF16 {
			return d
		}
	}
	return ""
}

// Tensor is one named array.
type Tensor struct {
	// Name is any UTF-8 text except "__metadata__".
	Name string
	// Shape has one entry per axis, outermost first. An empty shape is a scalar, with one
	// element; a tensor with an axis of 0 has none.
	Shape []int
	// Data holds the elements in row-major order: []float32, []float64,
	// []int64, []int32, []int16, []int8, []uint8 or []bool; to write, a Stream too.
	Data any
	// DType is the element type in the file that the tensor was read from. It differs from
	// the type of Data only for F16 and BF16, which are widened to []float32 without loss.
	// Writing ignores it and uses the type of Data.
	DType DType
}

// File is the content of one safetensors file.
type File struct {
	// Metadata is the header's __metadata__, nil if the header has none.
	Metadata map[string]string
	// Tensors are in the order of their data in the file.
	Tensors []Tensor
}

// Get returns the tensor with this name and reports whether there is one.
func (f *File) Get(name string) (Tensor, bool) {
	for _, t := range f.Tensors {
		if t.Name == name {
			return t, true
		}
	}
	return Tensor{}, false
}

const (
	metadataKey = "__metadata__"

	// maxHeader is the longest header accepted, in bytes: the limit of the
	// format's reference implementation.
	maxHeader = 100_000_000

	// maxTensors is the largest number of tensors in a file. A model of 70B has 724, and 80,000 experts' matrices still
	// fit.
	maxTensors = 100_000

	// maxName is the largest length of a tensor's name in bytes.
	maxName = 1 << 10

	// maxMetadata is the largest size of the JSON of __metadata__ in bytes; it may hold a vocabulary of characters.
	maxMetadata = 16 << 20
	// maxMetadataKeys is the largest number of keys of __metadata__: each takes a microsecond or more.
	maxMetadataKeys = 1 << 16

	// maxRank is the most axes a tensor may have: PyTorch's and NumPy's limit.
	maxRank = 64

	// maxDescription is the largest size of a tensor's JSON in bytes, several times what 64 axes need. It bounds the
	// memory that a hostile header takes.
	maxDescription = 1 << 14

	// chunk is the number of bytes converted at a time, a multiple of every element size.
	chunk = 1 << 16
)

// countElements returns the number of elements of a shape. It reports false if a dimension is negative, or if the
// product of the dimensions other than 0 does not fit an int: strides would not fit, even if an axis is 0.
func countElements(shape []int) (int, bool) {
	const maxInt = int(^uint(0) >> 1)
	product, empty := 1, false
	for _, d := range shape {
		switch {
		case d < 0:
			return 0, false
		case d == 0:
			empty = true
		case product > maxInt/d:
			return 0, false
		default:
			product *= d
		}
	}
	if empty {
		return 0, true
	}
	return product, true
}
