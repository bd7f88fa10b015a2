package gguf

import (
	"slices"

	"attention/internal/simd"
)

// Type is the storage format of a tensor's elements, named as in llama.cpp's tools.
type Type string

// The types that this package writes.
const (
	F32  Type = "f32"
	F16  Type = "f16"
	BF16 Type = "bf16"
	Q8   Type = "q8_0" // blocks of 32 numbers of a row: a half-precision scale and 32 bytes
)

// Types returns all types that are written, the most exact first.
func Types() []Type { return []Type{F32, BF16, F16, Q8} }

// form describes a type in a file. Its numbers are decoded by direct, or as blocks of 32 or 256.
type form struct {
	code         uint32                                      // its number
	block, bytes int                                         // the number of elements and of bytes of a block
	encode       func(dst []byte, elements []float32) []byte // appends blocks; nil if the type is only read
	file         uint32                                      // the number for a file whose matrices have the type
	direct       func(to []float32, blocks []byte)
	blocks       *simd.Blocks
	layout       *layout
}

// types lists all types that this package reads.
var types = map[Type]form{
	F32:      {0, 1, 4, appendF32, 0, decodeF32, nil, nil},
	F16:      {1, 1, 2, appendF16, 1, nil, &simd.Blocks{Kind: simd.Halves}, nil},
	BF16:     {30, 1, 2, appendBF16, 32, decodeBF16, nil, nil},
	"q4_0":   {2, 32, 18, nil, 0, nil, &simd.Blocks{Kind: simd.Nibbles, Values: counted(-8)}, nil},
	"q4_1":   {3, 32, 20, nil, 0, nil, &simd.Blocks{Kind: simd.NibblesPlus, Values: counted(0)}, nil},
	"q5_0":   {6, 32, 22, nil, 0, nil, &simd.Blocks{Kind: simd.Fifths, Values: equal(16)}, nil},
	"q5_1":   {7, 32, 24, nil, 0, nil, &simd.Blocks{Kind: simd.FifthsPlus}, nil},
	Q8:       {8, 32, 34, appendQ8, 7, nil, &simd.Blocks{Kind: simd.SignedBytes}, nil},
	"q2_k":   {10, 256, 84, nil, 0, nil, nil, &layout{simd.FromTable(2, counted(0), twoBits(16, 0)), factorsQ2K}},
	"q3_k":   {11, 256, 110, nil, 0, nil, nil, &layout{simd.WithHigh(2, 1, 4, twoBits(32, 0)), factorsQ3K}},
	"q4_k":   {12, 256, 144, nil, 0, nil, nil, &layout{simd.FromTable(4, counted(0), fourBits(16, 0)), factorsQ45K}},
	"q5_k":   {13, 256, 176, nil, 0, nil, nil, &layout{simd.WithHigh(4, 1, 0, fourBits(48, 16)), factorsQ45K}},
	"q6_k":   {14, 256, 210, nil, 0, nil, nil, &layout{simd.WithHigh(4, 2, 32, sixBits), factorsQ6K}},
	"iq4_nl": {20, 32, 18, nil, 0, nil, &simd.Blocks{Kind: simd.Nibbles, Values: iq4}, nil},
	"iq4_xs": {23, 256, 136, nil, 0, nil, nil, &layout{simd.FromTable(4, iq4, nibblesOf32), factorsIQ4XS}},
}

// unread maps the numbers of other types to their names.
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

// Fits reports whether rows of this width can be stored in the type.
func (t Type) Fits(width int) bool {
	of, ok := types[t]
	return ok && width%of.block == 0
}

// FileType returns the value of "general.file_type" for a file whose matrices are of this type.
func (t Type) FileType() uint32 { return types[t].file }
