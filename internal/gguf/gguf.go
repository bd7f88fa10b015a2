// Package gguf writes GGUF, the format of the files that llama.cpp reads: settings, a
// tokenizer and tensors as one file.
//
// A file is, in this order, all numbers little endian:
//
//	"GGUF", the version 3, the number of tensors, the number of settings
//	the settings: key, type and value of each
//	the tensors: name, shape (innermost axis first), type and offset of each
//	the elements of the tensors, each tensor at a multiple of 32 bytes
package gguf

// File is the content of a file.
type File struct {
	Settings []Setting // in the file's order
	Tensors  []Tensor  // in the file's order
}

// Setting is a key with its value, a string, bool, uint32, int32 or float32 or a slice of one
// of them.
type Setting struct {
	Key   string
	Value any
}

// Tensor is one named array.
type Tensor struct {
	Name  string
	Shape []int // outermost axis first, as elsewhere; the file has them the other way around
	Type  Type
	// Fill sets the elements, row-major. It is called once, when they are written: a file needs the
	// memory of its largest tensor.
	Fill func(elements []float32) error
}

// Type is how the elements of a tensor are stored, as llama.cpp's tools spell it.
type Type string

// The types.
const (
	F32  Type = "f32"
	F16  Type = "f16"
	BF16 Type = "bf16"
	Q8   Type = "q8_0" // blocks of 32 numbers of a row: a half-precision scale and 32 bytes
)

// Types returns all types, the most exact first.
func Types() []Type { return []Type{F32, BF16, F16, Q8} }

// types has what the file needs to know of each type: its number, that of a file whose matrices are of it, the numbers
// and bytes of a block and what appends blocks.
var types = map[Type]struct {
	code, file   uint32
	block, bytes int
	encode       func(dst []byte, elements []float32) []byte
}{
	F32:  {0, 0, 1, 4, appendF32},
	F16:  {1, 1, 1, 2, appendF16},
	Q8:   {8, 7, 32, 34, appendQ8},
	BF16: {30, 32, 1, 2, appendBF16},
}

// Fits reports whether rows of this width can be stored so.
func (t Type) Fits(width int) bool {
	of, ok := types[t]
	return ok && width%of.block == 0
}

// FileType returns the value of "general.file_type" for a file whose matrices are of this type.
func (t Type) FileType() uint32 { return types[t].file }
