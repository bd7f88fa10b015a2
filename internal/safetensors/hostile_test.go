package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// file puts the header's length before it and n bytes of data behind it.
func file(header string, n int) string {
	length := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return string(length) + header + strings.Repeat("\x00", n)
}

// one is a file of one tensor "w" with 8 bytes of data.
func one(dtype, shape, offsets string) string {
	return file(`{"w":{"dtype":`+dtype+`,"shape":`+shape+`,"data_offsets":`+offsets+`}}`, 8)
}

// two is a file of two U8 vectors over 8 bytes of data.
func two(shapeA, offsetsA, shapeB, offsetsB string) string {
	return file(`{"a":{"dtype":"U8","shape":`+shapeA+`,"data_offsets":`+offsetsA+`},`+
		`"b":{"dtype":"U8","shape":`+shapeB+`,"data_offsets":`+offsetsB+`}}`, 8)
}

var hostile = []struct{ name, file, want string }{
	{"empty file", "", "file is 0 bytes, want at least the 8"},
	{"seven bytes", "\x00\x00\x00\x00\x00\x00\x00", "file is 7 bytes"},
	{"empty header", file("", 0), `header: starts with "", want "{"`},
	{"header beyond the file", "\x09\x00\x00\x00\x00\x00\x00\x00{}      ", "got 9 bytes, but only 8 follow"},
	{"header length over the limit", "\x01\xe1\xf5\x05\x00\x00\x00\x00{}", "got 100000001 bytes, want at most 100000000"},
	{"header length that is negative as int64", "\xff\xff\xff\xff\xff\xff\xff\xff{}", "got 18446744073709551615 bytes"},

	{"not JSON", file(`{"w":`, 0), "header: not JSON: unexpected end"},
	{"comma too many", file(`{"w":{"dtype":"U8","shape":[0,],"data_offsets":[0,0]}}`, 0), "header: not JSON"},
	{"list", file(`[]`, 0), `header: starts with "[]"`},
	{"space before the header", file(` {}`, 0), `header: starts with " {}"`},
	{"two objects", file(`{}{}`, 0), "header: not JSON: invalid character '{' after"},
	{"padded with zero bytes", file("{}\x00\x00", 0), "header: not JSON"},
	{"nested too deeply", file(strings.Repeat(`{"a":`, 20000)+"1"+strings.Repeat("}", 20000), 0), "exceeded max depth"},
	{"invalid UTF-8 in a name", file("{\"\xff\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0), "header: not valid UTF-8"},
	{"half a surrogate pair", file(`{"\ud800":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, 0), "header: byte 2: \\u escape is half"},
	{"other half", file(`{"\\\uDC00x":1}`, 0), "header: byte 4: \\u escape is half"},
	{"two first halves", file(`{"\udbff\ud800":1}`, 0), "header: byte 2: \\u escape is half"},

	{"metadata is a string", file(`{"__metadata__":"x"}`, 0), `"__metadata__": got a string, want an object`},
	{"metadata is null", file(`{"__metadata__":null}`, 0), `"__metadata__": got null, want an object`},
	{"metadata value is a number", file(`{"__metadata__":{"step":1}}`, 0), `"__metadata__": "step": got a number, want a string`},
	{"metadata value is an object", file(`{"__metadata__":{"step":{}}}`, 0), `"step": got an object, want a string`},
	{"metadata twice", file(`{"__metadata__":{},"__metadata__":{}}`, 0), `key "__metadata__" comes twice`},
	{"metadata key twice", file(`{"__metadata__":{"a":"1","a":"1"}}`, 0), `"__metadata__": key "a" comes twice`},
	{"tensor twice", file(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, 0), `header: key "a" comes twice`},
	{"tensor twice, once escaped", file(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"\u0061":{}}`, 0), `header: key "a" comes twice`},
	{"field twice", file(`{"w":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, 0), `"w": key "dtype" comes twice`},

	{"tensor is a list", file(`{"w":[]}`, 0), `header: "w": got a list, want an object`},
	{"no dtype", file(`{"w":{"shape":[0],"data_offsets":[0,0]}}`, 0), `"w": got 2 keys, want dtype, shape and data_offsets`},
	{"unknown field", file(`{"w":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":0}}`, 0), `"w": "x": unknown key`},
	{"unknown dtype", one(`"F8_E4M3"`, `[8]`, `[0,8]`), `"w": dtype: got "F8_E4M3", want F64, F32,`},
	{"dtype in lower case", one(`"f32"`, `[2]`, `[0,8]`), `"w": dtype: got "f32"`},
	{"dtype is a number", one(`32`, `[2]`, `[0,8]`), `"w": "dtype": got a number, want a string`},
	{"dtype is a boolean", one(`true`, `[2]`, `[0,8]`), `"w": "dtype": got a boolean, want a string`},

	{"shape is a number", one(`"F32"`, `2`, `[0,8]`), `"w": "shape": got a number, want a list`},
	{"negative dimension", one(`"F32"`, `[-2]`, `[0,8]`), `"w": "shape": got -2, want a whole number from 0`},
	{"two negative dimensions", one(`"F32"`, `[-1,-2]`, `[0,8]`), `"shape": got -1, want`},
	{"negative zero", one(`"F32"`, `[-0]`, `[0,8]`), `"shape": got -0, want`},
	{"fraction", one(`"F32"`, `[2.0]`, `[0,8]`), `"shape": got 2.0, want`},
	{"exponent", one(`"F32"`, `[2e0]`, `[0,8]`), `"shape": got 2e0, want`},
	{"dimension of 2^63", one(`"U8"`, `[9223372036854775808]`, `[0,8]`), `"shape": got 9223372036854775808, want`},
	{"dimension is a string", one(`"F32"`, `["2"]`, `[0,8]`), `"shape": got a string, want a number`},
	{"dimension is a list", one(`"F32"`, `[[2]]`, `[0,8]`), `"shape": got a list, want a number`},
	{"elements overflow", one(`"U8"`, `[4294967296,4294967296,1]`, `[0,8]`), `shape: got [4294967296 4294967296 1], which has too many`},
	{"elements overflow to 8", one(`"U8"`, `[2305843009213693953,8]`, `[0,8]`), `too many elements`},
	{"bytes overflow to 8", one(`"F32"`, `[4611686018427387906]`, `[0,8]`), `too many elements`},
	{"overflow hidden by a zero", one(`"U8"`, `[4294967296,0,4294967296]`, `[0,0]`), `too many elements`},
	{"too many axes", one(`"U8"`, `[8`+strings.Repeat(",1", 64)+`]`, `[0,8]`), `"shape": got more than 64 numbers`},

	{"offsets missing", one(`"F32"`, `[2]`, `[]`), `"w": data_offsets: got 0 numbers, want 2`},
	{"one offset", one(`"F32"`, `[2]`, `[8]`), `"w": data_offsets: got 1 numbers, want 2`},
	{"three offsets", one(`"F32"`, `[2]`, `[0,8,8]`), `"data_offsets": got more than 2 numbers`},
	{"offsets reversed", one(`"F32"`, `[2]`, `[8,0]`), `data_offsets: got [8,0], want the first not above`},
	{"negative offset", one(`"F32"`, `[2]`, `[-8,0]`), `"data_offsets": got -8, want`},
	{"offsets shorter than the shape", one(`"F32"`, `[2]`, `[0,4]`), `got [0,4], which is 4 bytes, want 8 for shape [2] of F32`},
	{"offsets longer than the shape", one(`"F32"`, `[1]`, `[0,8]`), `which is 8 bytes, want 4 for shape [1] of F32`},
	{"scalar without data", one(`"F64"`, `[]`, `[0,0]`), `which is 0 bytes, want 8 for shape [] of F64`},
	{"vast tensor", one(`"U8"`, `[4611686018427387904]`, `[0,4611686018427387904]`), `tensor "w": data ends at byte 4611686018427387904, but the file holds only 8`},
	{"truncated data", one(`"F32"`, `[3]`, `[0,12]`), `data ends at byte 12, but the file holds only 8 bytes`},
	{"trailing bytes", one(`"F32"`, `[1]`, `[0,4]`), "4 trailing bytes after the last tensor"},
	{"data without a tensor", file(`{}`, 3), "3 trailing bytes"},
	{"data does not start at 0", one(`"F32"`, `[1]`, `[4,8]`), `tensor "w": data starts at byte 4, want 0`},
	{"hole", two(`[3]`, `[0,3]`, `[4]`, `[4,8]`), `tensor "b": data starts at byte 4, want 3: the bytes between`},
	{"overlap", two(`[5]`, `[0,5]`, `[4]`, `[4,8]`), `tensor "b": data starts at byte 4, inside tensor "a" which ends at 5`},
	{"same data twice", two(`[8]`, `[0,8]`, `[8]`, `[0,8]`), `tensor "b": data starts at byte 0, inside tensor "a"`},
	{"overlap, later one first", two(`[4]`, `[4,8]`, `[5]`, `[0,5]`), `tensor "a": data starts at byte 4, inside tensor "b"`},
	{"empty tensor in a hole", two(`[0]`, `[9,9]`, `[8]`, `[0,8]`), `tensor "a": data starts at byte 9, want 8`},
	{"empty tensor inside another", two(`[0]`, `[3,3]`, `[8]`, `[0,8]`), `tensor "a": data starts at byte 3, inside tensor "b"`},

	{"boolean of 2", file(`{"w":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}}`, 0) + "\x02", `tensor "w": BOOL element: got byte 2, want 0 or 1`},
}

func TestReadRefuses(t *testing.T) {
	for _, row := range hostile {
		t.Run(row.name, func(t *testing.T) {
			f, err := readString(row.file)
			require.ErrorContains(t, err, row.want)
			assert.Nil(t, f)
			assert.True(t, strings.HasPrefix(err.Error(), "safetensors: "), "%v", err)
			assert.Equal(t, 1, strings.Count(err.Error(), "safetensors: "), "%v", err)
			assert.NotContains(t, err.Error(), "\n")
			assert.Less(t, len(err.Error()), 300)
		})
	}
}

// A small file that claims much must not make the reader allocate much.
func TestReadAllocatesLittleForHostileInput(t *testing.T) {
	for _, row := range hostile {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = readString(row.file)
		runtime.ReadMemStats(&after)
		// The longest row's header is 120 kB, read once and tokenised once.
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), row.name)
	}
}

func TestErrorsStayShort(t *testing.T) {
	name := strings.Repeat("x", 1<<20)
	_, err := readString(file(`{"`+name+`":{"dtype":"`+name+`","shape":[0],"data_offsets":[0,0]}}`, 0))
	require.ErrorContains(t, err, "dtype: got")
	assert.Less(t, len(err.Error()), 500)
	_, err = readString(file(`{"w":{"dtype":"U8","shape":[1`+strings.Repeat("0", 1<<20)+`],"data_offsets":[0,0]}}`, 0))
	require.ErrorContains(t, err, "want a whole number")
	assert.Less(t, len(err.Error()), 500)
}

// A source that ends early or fails: the file was cut while it was read.
func TestReadPassesOnTheSourcesError(t *testing.T) {
	for n := range len(pythonFile) {
		_, err := Read(strings.NewReader(pythonFile[:n]), int64(len(pythonFile)))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "cut at %d", n)
	}
	broken := errors.New("disk on fire")
	_, err := Read(failingReader{broken}, 100)
	require.ErrorIs(t, err, broken)
}

type failingReader struct{ err error }

func (r failingReader) ReadAt([]byte, int64) (int, error) { return 0, r.err }

// What the format allows, though it looks odd.
func TestReadAccepts(t *testing.T) {
	u8 := func(name string, data ...uint8) Tensor {
		return Tensor{name, []int{len(data)}, append([]uint8{}, data...), U8}
	}
	many := strings.Repeat("1,", 63) + "1"
	rows := []struct {
		name, file string
		want       *File
	}{
		{"no tensors", file(`{}`, 0), &File{Tensors: []Tensor{}}},
		{"empty metadata", file(`{"__metadata__":{}}`, 0), &File{Metadata: map[string]string{}, Tensors: []Tensor{}}},
		{"metadata last", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"__metadata__":{"k":"v"}}`, 1),
			&File{Metadata: map[string]string{"k": "v"}, Tensors: []Tensor{u8("a", 0)}}},
		{"padding and spaces", file("{ \"a\" :{\"data_offsets\":[ 0,1],\n\"shape\":[1],\"dtype\":\"U8\"} }   ", 1),
			&File{Tensors: []Tensor{u8("a", 0)}}},
		{"header in another order than the data", file(`{"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]},"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 0) + "\x01\x02\x03",
			&File{Tensors: []Tensor{u8("a", 1, 2), u8("b", 3)}}},
		{"empty tensors between others", file(`{"c":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},"b":{"dtype":"U8","shape":[0],"data_offsets":[1,1]},"z":{"dtype":"U8","shape":[0],"data_offsets":[2,2]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 0) + "\x01\x02",
			&File{Tensors: []Tensor{u8("a", 1), u8("b"), u8("c", 2), u8("z")}}},
		{"names empty and escaped", file(`{"":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"\u00e9\ud83d\uDE00\\ud800\ufffd":{"dtype":"U8","shape":[0],"data_offsets":[1,1]}}`, 1),
			&File{Tensors: []Tensor{u8("", 0), u8("é😀\\ud800\ufffd")}}},
		{"as many axes as allowed", file(`{"a":{"dtype":"U8","shape":[`+many+`],"data_offsets":[0,1]}}`, 1),
			&File{Tensors: []Tensor{{"a", bytesToInts(bytes.Repeat([]byte{1}, 64)), []uint8{0}, U8}}}},
		{"misaligned", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F32","shape":[],"data_offsets":[1,5]}}`, 0) + "\x07\x00\x00\x80\x3f",
			&File{Tensors: []Tensor{u8("a", 7), {"b", []int{}, []float32{1}, F32}}}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			got, err := readString(row.file)
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
}

func bytesToInts(b []byte) []int {
	ints := make([]int, len(b))
	for i, v := range b {
		ints[i] = int(v)
	}
	return ints
}
