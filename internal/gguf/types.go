package gguf

import "slices"

// Type is how the elements of a tensor are stored, as llama.cpp's tools spell it.
type Type string

// The types that are written.
const (
	F32  Type = "f32"
	F16  Type = "f16"
	BF16 Type = "bf16"
	Q8   Type = "q8_0" // blocks of 32 numbers of a row: a half-precision scale and 32 bytes
)

// Types returns all types that are written, the most exact first.
func Types() []Type { return []Type{F32, BF16, F16, Q8} }

// form is a type as a file has it.
type form struct {
	code         uint32                                      // its number
	block, bytes int                                         // the numbers and the bytes of a block
	decode       func(to []float32, block []byte)            // sets the numbers of a block
	encode       func(dst []byte, elements []float32) []byte // appends blocks; nil if the type is only read
	file         uint32                                      // the number of a file whose matrices are of the type
}

// types are all types that are read.
var types = map[Type]form{
	F32:      {0, 1, 4, decodeF32, appendF32, 0},
	F16:      {1, 1, 2, decodeF16, appendF16, 1},
	BF16:     {30, 1, 2, decodeBF16, appendBF16, 32},
	"q4_0":   {2, 32, 18, decodeQ4, nil, 0},
	"q4_1":   {3, 32, 20, decodeQ41, nil, 0},
	"q5_0":   {6, 32, 22, decodeQ5, nil, 0},
	"q5_1":   {7, 32, 24, decodeQ51, nil, 0},
	Q8:       {8, 32, 34, decodeQ8, appendQ8, 7},
	"q2_k":   {10, 256, 84, decodeQ2K, nil, 0},
	"q3_k":   {11, 256, 110, decodeQ3K, nil, 0},
	"q4_k":   {12, 256, 144, decodeQ4K, nil, 0},
	"q5_k":   {13, 256, 176, decodeQ5K, nil, 0},
	"q6_k":   {14, 256, 210, decodeQ6K, nil, 0},
	"iq4_nl": {20, 32, 18, decodeIQ4NL, nil, 0},
	"iq4_xs": {23, 256, 136, decodeIQ4XS, nil, 0},
}

// unread are the names of other types by their numbers.
var unread = map[uint32]string{4: "q4_2", 5: "q4_3", 9: "q8_1", 15: "q8_k", 16: "iq2_xxs", 17: "iq2_xs", 18: "iq3_xxs",
	19: "iq1_s", 21: "iq3_s", 22: "iq2_s", 24: "i8", 25: "i16", 26: "i32", 27: "i64", 28: "f64", 29: "iq1_m",
	34: "tq1_0", 35: "tq2_0", 39: "mxfp4", 40: "nvfp4"}

// readTypes returns all types that are read, in the order of their numbers.
func readTypes() (all []Type) {
	for t := range types {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b Type) int { return int(types[a].code) - int(types[b].code) })
	return all
}

// decode sets dst to the numbers of whole blocks.
func (t Type) decode(dst []float32, blocks []byte) {
	of := types[t]
	for ; len(dst) > 0; dst, blocks = dst[of.block:], blocks[of.bytes:] {
		of.decode(dst[:of.block], blocks[:of.bytes])
	}
}

// Fits reports whether rows of this width can be stored so.
func (t Type) Fits(width int) bool {
	of, ok := types[t]
	return ok && width%of.block == 0
}

// FileType returns the value of "general.file_type" for a file whose matrices are of this type.
func (t Type) FileType() uint32 { return types[t].file }
