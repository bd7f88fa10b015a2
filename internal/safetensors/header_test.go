package safetensors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"attention/internal/testenv"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// file returns a file of a header and n bytes of data.
func file(header string, n int) string {
	length := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return string(length) + header + strings.Repeat("\x00", n)
}

// one returns a file of one tensor "w" with 8 bytes of data.
func one(dtype, shape, offsets string) string {
	return file(`{"w":{"dtype":`+dtype+`,"shape":`+shape+`,"data_offsets":`+offsets+`}}`, 8)
}

// two returns a file of two U8 vectors with 8 bytes of data.
func two(shapeA, offsetsA, shapeB, offsetsB string) string {
	return file(`{"a":{"dtype":"U8","shape":`+shapeA+`,"data_offsets":`+offsetsA+`},`+
		`"b":{"dtype":"U8","shape":`+shapeB+`,"data_offsets":`+offsetsB+`}}`, 8)
}

var hostile = []struct{ name, file, want string }{
	{name: "empty file", want: "file is 0 bytes, want at least the 8"},
	{name: "seven bytes", file: "\x00\x00\x00\x00\x00\x00\x00", want: "file is 7 bytes"},
	{name: "empty header", file: file("", 0), want: `header: starts with "", want "{"`},
	{name: "header beyond the file", file: "\x09\x00\x00\x00\x00\x00\x00\x00{}      ",
		want: "got 9 bytes, but only 8 follow"},
	{name: "header length over the limit", file: "\x01\xe1\xf5\x05\x00\x00\x00\x00{}",
		want: "got 100000001 bytes, want at most 100000000"},
	{name: "header length that is negative as int64", file: "\xff\xff\xff\xff\xff\xff\xff\xff{}",
		want: "got 18446744073709551615 bytes"},

	{name: "not JSON", file: file(`{"w":`, 0), want: "header: not JSON: unexpected end"},
	{name: "comma too many", file: file(`{"w":{"dtype":"U8","shape":[0,],"data_offsets":[0,0]}}`, 0),
		want: "header: not JSON"},
	{name: "list", file: file(`[]`, 0), want: `header: starts with "[]"`},
	{name: "space before the header", file: file(` {}`, 0), want: `header: starts with " {}"`},
	{name: "two objects", file: file(`{}{}`, 0), want: "header: not JSON: invalid character '{' after"},
	{name: "padded with zero bytes", file: file("{}\x00\x00", 0), want: "header: not JSON"},
	{name: "nested too deeply", file: file(strings.Repeat(`{"a":`, 20000)+"1"+strings.Repeat("}", 20000), 0),
		want: "exceeded max depth"},
	{name: "invalid UTF-8 in a name", file: file("{\"\xff\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0),
		want: "header: not valid UTF-8"},
	{name: "half a surrogate pair", file: file(`{"\ud800":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, 0),
		want: "header: a \\u escape is half"},
	{name: "other half", file: file(`{"\\\uDC00x":1}`, 0), want: "header: a \\u escape is half"},
	{name: "two first halves", file: file(`{"\udbff\ud800":1}`, 0), want: "header: a \\u escape is half"},

	{name: "metadata is a string", file: file(`{"__metadata__":"x"}`, 0),
		want: `"__metadata__": got "x", want a JSON object`},
	{name: "metadata is null", file: file(`{"__metadata__":null}`, 0),
		want: `"__metadata__": got null, want a JSON object`},
	{name: "metadata value is a number", file: file(`{"__metadata__":{"step":1}}`, 0),
		want: `"__metadata__": step: got 1, want a string`},
	{name: "metadata value is an object", file: file(`{"__metadata__":{"step":{}}}`, 0),
		want: `step: got {}, want a string`},
	{name: "metadata twice", file: file(`{"__metadata__":{},"__metadata__":{}}`, 0),
		want: `key "__metadata__" comes twice`},
	{name: "metadata key twice", file: file(`{"__metadata__":{"a":"1","a":"1"}}`, 0),
		want: `"__metadata__": field "a" comes twice`},
	{name: "tensor twice",
		file: file(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},`+
			`"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, 0),
		want: `header: key "a" comes twice`},
	{name: "tensor twice, once escaped",
		file: file(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"\u0061":{}}`, 0),
		want: `header: key "a" comes twice`},
	{name: "field twice", file: file(`{"w":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, 0),
		want: `"w": field "dtype" comes twice`},

	{name: "tensor is a list", file: file(`{"w":[]}`, 0), want: `header: "w": got [], want a JSON object`},
	{name: "no dtype", file: file(`{"w":{"shape":[0],"data_offsets":[0,0]}}`, 0),
		want: `"w": dtype: got "", want F64, F32,`},
	{name: "no shape", file: file(`{"w":{"dtype":"U8","data_offsets":[0,0]}}`, 0),
		want: `"w": shape: got none, want a list`},
	{name: "no offsets", file: file(`{"w":{"dtype":"U8","shape":[0]}}`, 0),
		want: `"w": data_offsets: got 0 numbers, want 2`},
	{name: "null for the shape", file: one(`"F64"`, `null`, `[0,8]`), want: `"w": shape: got null, want a list`},
	{name: "field in upper case", file: file(`{"w":{"DType":"U8","shape":[0],"data_offsets":[0,0]}}`, 0),
		want: `"w": unknown field "DType"`},
	{name: "long description", file: one(`"F64"`, `[`+strings.Repeat(" ", maxDescription)+`]`, `[0,8]`),
		want: `"w": got a description of 16431 bytes, want at most 16384`},
	{name: "unknown field", file: file(`{"w":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":0}}`, 0),
		want: `"w": unknown field "x"; it has dtype, shape, data_offsets`},
	{name: "unknown dtype", file: one(`"F8_E4M3"`, `[8]`, `[0,8]`), want: `"w": dtype: got "F8_E4M3", want F64, F32,`},
	{name: "dtype in lower case", file: one(`"f32"`, `[2]`, `[0,8]`), want: `"w": dtype: got "f32"`},
	{name: "dtype is a number", file: one(`32`, `[2]`, `[0,8]`), want: `"w": dtype: got 32, want a string`},
	{name: "dtype is a boolean", file: one(`true`, `[2]`, `[0,8]`), want: `"w": dtype: got true, want a string`},

	{name: "shape is a number", file: one(`"F32"`, `2`, `[0,8]`), want: `"w": shape: got 2, want a list`},
	{name: "negative dimension", file: one(`"F32"`, `[-2]`, `[0,8]`),
		want: `"w": shape[0]: got -2, want a whole number from 0`},
	{name: "two negative dimensions", file: one(`"F32"`, `[-1,-2]`, `[0,8]`), want: `shape[0]: got -1, want`},
	{name: "negative zero", file: one(`"F32"`, `[-0]`, `[0,8]`), want: `shape[0]: got -0, want`},
	{name: "fraction", file: one(`"F32"`, `[2.0]`, `[0,8]`), want: `shape[0]: got 2.0, want`},
	{name: "exponent", file: one(`"F32"`, `[2e0]`, `[0,8]`), want: `shape[0]: got 2e0, want`},
	{name: "dimension of 2^63", file: one(`"U8"`, `[9223372036854775808]`, `[0,8]`),
		want: `shape: got 9223372036854775808, which is too large`},
	{name: "dimension is a string", file: one(`"F32"`, `["2"]`, `[0,8]`), want: `shape[0]: got "2", want a whole number`},
	{name: "dimension is a list", file: one(`"F32"`, `[[2]]`, `[0,8]`), want: `shape[0]: got [2], want a whole number`},
	{name: "elements overflow", file: one(`"U8"`, `[4294967296,4294967296,1]`, `[0,8]`),
		want: `shape: got [4294967296 4294967296 1], which has too many`},
	{name: "elements overflow to 8", file: one(`"U8"`, `[2305843009213693953,8]`, `[0,8]`), want: `too many elements`},
	{name: "bytes overflow to 8", file: one(`"F32"`, `[4611686018427387906]`, `[0,8]`), want: `too many elements`},
	{name: "overflow hidden by a zero", file: one(`"U8"`, `[4294967296,0,4294967296]`, `[0,0]`),
		want: `too many elements`},
	{name: "too many axes", file: one(`"U8"`, `[8`+strings.Repeat(",1", 64)+`]`, `[0,8]`),
		want: `shape: got 65 axes, want at most 64`},

	{name: "offsets missing", file: one(`"F32"`, `[2]`, `[]`), want: `"w": data_offsets: got 0 numbers, want 2`},
	{name: "one offset", file: one(`"F32"`, `[2]`, `[8]`), want: `"w": data_offsets: got 1 numbers, want 2`},
	{name: "three offsets", file: one(`"F32"`, `[2]`, `[0,8,8]`), want: `data_offsets: got 3 numbers, want 2`},
	{name: "offsets reversed", file: one(`"F32"`, `[2]`, `[8,0]`),
		want: `data_offsets: got [8 0], want the first not above`},
	{name: "offset of 2^63", file: one(`"U8"`, `[8]`, `[9223372036854775800,9223372036854775808]`),
		want: `data_offsets: got [9223372036854775800 9223372036854775808], want`},
	{name: "negative offset", file: one(`"F32"`, `[2]`, `[-8,0]`), want: `data_offsets[0]: got -8, want`},
	{name: "offsets shorter than the shape", file: one(`"F32"`, `[2]`, `[0,4]`),
		want: `got [0 4], which is 4 bytes, want 8 for shape [2] of F32`},
	{name: "offsets longer than the shape", file: one(`"F32"`, `[1]`, `[0,8]`),
		want: `which is 8 bytes, want 4 for shape [1] of F32`},
	{name: "scalar without data", file: one(`"F64"`, `[]`, `[0,0]`), want: `which is 0 bytes, want 8 for shape [] of F64`},
	{name: "vast tensor", file: one(`"U8"`, `[4611686018427387904]`, `[0,4611686018427387904]`),
		want: `tensor "w": data ends at byte 4611686018427387904, but the file holds only 8`},
	{name: "truncated data", file: one(`"F32"`, `[3]`, `[0,12]`),
		want: `data ends at byte 12, but the file holds only 8 bytes`},
	{name: "trailing bytes", file: one(`"F32"`, `[1]`, `[0,4]`), want: "4 trailing bytes after the last tensor"},
	{name: "data without a tensor", file: file(`{}`, 3), want: "3 trailing bytes"},
	{name: "data does not start at 0", file: one(`"F32"`, `[1]`, `[4,8]`),
		want: `tensor "w": data starts at byte 4, want 0`},
	{name: "hole", file: two(`[3]`, `[0,3]`, `[4]`, `[4,8]`),
		want: `tensor "b": data starts at byte 4, want 3: the bytes between`},
	{name: "overlap", file: two(`[5]`, `[0,5]`, `[4]`, `[4,8]`),
		want: `tensor "b": data starts at byte 4, inside tensor "a" which ends at 5`},
	{name: "same data twice", file: two(`[8]`, `[0,8]`, `[8]`, `[0,8]`),
		want: `tensor "b": data starts at byte 0, inside tensor "a"`},
	{name: "overlap, later one first", file: two(`[4]`, `[4,8]`, `[5]`, `[0,5]`),
		want: `tensor "a": data starts at byte 4, inside tensor "b"`},
	{name: "empty tensor in a hole", file: two(`[0]`, `[9,9]`, `[8]`, `[0,8]`),
		want: `tensor "a": data starts at byte 9, want 8`},
	{name: "empty tensor inside another", file: two(`[0]`, `[3,3]`, `[8]`, `[0,8]`),
		want: `tensor "a": data starts at byte 3, inside tensor "b"`},

	{name: "boolean of 2", file: file(`{"w":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}}`, 0) + "\x02",
		want: `tensor "w": BOOL element: got byte 2, want 0 or 1`},
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

// A small file must not make the reader allocate much memory, whatever it claims.
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
	_, err := readString(file(`{"`+name+`":{"dtype":"U8","shape":[1],"data_offsets":[0,0]}}`, 0))
	require.ErrorContains(t, err, "name: got 1048576 bytes, want at most 1024")
	assert.Less(t, len(err.Error()), 500)
	_, err = readString(file(`{"w":{"dtype":"`+name[:maxDescription-100]+`","shape":[0],"data_offsets":[0,0]}}`, 0))
	require.ErrorContains(t, err, "dtype: got")
	assert.Less(t, len(err.Error()), 500)
	_, err = readString(file(`{"w":{"dtype":"U8","shape":[1`+strings.Repeat("0", 10000)+`],"data_offsets":[0,0]}}`, 0))
	require.ErrorContains(t, err, "want a whole number")
	assert.Less(t, len(err.Error()), 500)
	_, err = readString(file(`{"w":{"dtype":"`+name+`","shape":[0],"data_offsets":[0,0]}}`, 0))
	require.ErrorContains(t, err, "want at most 16384")
	assert.Less(t, len(err.Error()), 500)
}

// manyTensors returns a header of n empty tensors.
func manyTensors(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"%d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}`, i)
	}
	return "{" + b.String()[1:] + "}"
}

// A header may be 100 MB long, but the memory and the time that it takes are bounded by what
// real models need.
func TestHeaderLimits(t *testing.T) {
	require.Len(t, must(readString(file(manyTensors(maxTensors), 0))).Tensors, maxTensors)
	_, err := readString(file(manyTensors(maxTensors+1), 0))
	require.ErrorContains(t, err, "got more than 100000 tensors, want at most as many")
	require.ErrorContains(t, Write(io.Discard, &File{Tensors: make([]Tensor, maxTensors+1)}),
		"got 100001 tensors, want at most 100000")

	name := strings.Repeat("x", maxName)
	one := func(name string) *File {
		return &File{Tensors: []Tensor{{Name: name, Shape: []int{1}, Data: []int8{1}}}}
	}
	require.NoError(t, Write(io.Discard, one(name)))
	require.ErrorContains(t, Write(io.Discard, one(name+"x")), "name: got 1025 bytes, want at most 1024")

	_, err = readString(file(`{"__metadata__":{"a":"`+strings.Repeat("x", maxMetadata)+`"}}`, 0))
	require.ErrorContains(t, err, `header: "__metadata__": got 16777224 bytes, want at most 16777216`)

	keys, wide := strings.Builder{}, map[string]string{}
	for i := range maxMetadataKeys + 1 {
		fmt.Fprintf(&keys, `,"%d":""`, i)
		wide[fmt.Sprint(i)] = ""
	}
	_, err = readString(file(`{"__metadata__":{`+keys.String()[1:]+`}}`, 0))
	require.ErrorContains(t, err, `header: "__metadata__": got more than 65536 keys, want at most as many`)
	require.ErrorContains(t, Write(io.Discard, &File{Metadata: wide}), "metadata: got 65537 keys, want at most 65536")
	delete(wide, "0")
	require.NoError(t, Write(io.Discard, &File{Metadata: wide}))
}

// headerOf returns a file of many small tensors.
func headerOf(t testing.TB, n int) []byte {
	f := &File{}
	for i := range n {
		f.Tensors = append(f.Tensors, Tensor{Name: fmt.Sprintf("transformer.h.%d.attn.c_attn.weight", i),
			Shape: []int{2, 3}, Data: make([]float32, 6)})
	}
	var b bytes.Buffer
	require.NoError(t, Write(&b, f))
	return b.Bytes()
}

// A header is read without a copy for each of its parts, which once took most of the time.
func TestHeaderAllocations(t *testing.T) {
	if testenv.Race {
		t.Skip("sync.Pool drops decoders under the race detector")
	}
	const n = 600
	content := headerOf(t, n)
	r := bytes.NewReader(content)
	perTensor := testing.AllocsPerRun(3, func() {
		must(readHeader(r, int64(len(content))))
	}) / n
	require.Less(t, perTensor, 40.0)
}

func BenchmarkHeader(b *testing.B) {
	content := headerOf(b, 600)
	r := bytes.NewReader(content)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readHeader(r, int64(len(content))); err != nil {
			b.Fatal(err)
		}
	}
}
