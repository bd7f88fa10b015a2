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
	{"invalid UTF-8 in a name", file("{\"\xff\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0),
		"header: not valid UTF-8"},
	{"half a surrogate pair", file(`{"\ud800":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, 0),
		"header: a \\u escape is half"},
	{"other half", file(`{"\\\uDC00x":1}`, 0), "header: a \\u escape is half"},
	{"two first halves", file(`{"\udbff\ud800":1}`, 0), "header: a \\u escape is half"},

	{"metadata is a string", file(`{"__metadata__":"x"}`, 0), `"__metadata__": got "x", want a JSON object`},
	{"metadata is null", file(`{"__metadata__":null}`, 0), `"__metadata__": got null, want a JSON object`},
	{"metadata value is a number", file(`{"__metadata__":{"step":1}}`, 0), `"__metadata__": step: got 1, want a string`},
	{"metadata value is an object", file(`{"__metadata__":{"step":{}}}`, 0), `step: got {}, want a string`},
	{"metadata twice", file(`{"__metadata__":{},"__metadata__":{}}`, 0), `key "__metadata__" comes twice`},
	{"metadata key twice", file(`{"__metadata__":{"a":"1","a":"1"}}`, 0), `"__metadata__": field "a" comes twice`},
	{"tensor twice",
		file(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},`+
			`"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, 0),
		`header: key "a" comes twice`},
	{"tensor twice, once escaped",
		file(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"\u0061":{}}`, 0),
		`header: key "a" comes twice`},
	{"field twice", file(`{"w":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, 0),
		`"w": field "dtype" comes twice`},

	{"tensor is a list", file(`{"w":[]}`, 0), `header: "w": got [], want a JSON object`},
	{"no dtype", file(`{"w":{"shape":[0],"data_offsets":[0,0]}}`, 0), `"w": dtype: got "", want F64, F32,`},
	{"no shape", file(`{"w":{"dtype":"U8","data_offsets":[0,0]}}`, 0), `"w": shape: got none, want a list`},
	{"no offsets", file(`{"w":{"dtype":"U8","shape":[0]}}`, 0), `"w": data_offsets: got 0 numbers, want 2`},
	{"null for the shape", one(`"F64"`, `null`, `[0,8]`), `"w": shape: got null, want a list`},
	{"field in upper case", file(`{"w":{"DType":"U8","shape":[0],"data_offsets":[0,0]}}`, 0),
		`"w": unknown field "DType"`},
	{"long description", one(`"F64"`, `[`+strings.Repeat(" ", maxDescription)+`]`, `[0,8]`),
		`"w": got a description of 16431 bytes, want at most 16384`},
	{"unknown field", file(`{"w":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":0}}`, 0),
		`"w": unknown field "x"; it has dtype, shape, data_offsets`},
	{"unknown dtype", one(`"F8_E4M3"`, `[8]`, `[0,8]`), `"w": dtype: got "F8_E4M3", want F64, F32,`},
	{"dtype in lower case", one(`"f32"`, `[2]`, `[0,8]`), `"w": dtype: got "f32"`},
	{"dtype is a number", one(`32`, `[2]`, `[0,8]`), `"w": dtype: got 32, want a string`},
	{"dtype is a boolean", one(`true`, `[2]`, `[0,8]`), `"w": dtype: got true, want a string`},

	{"shape is a number", one(`"F32"`, `2`, `[0,8]`), `"w": shape: got 2, want a list`},
	{"negative dimension", one(`"F32"`, `[-2]`, `[0,8]`), `"w": shape[0]: got -2, want a whole number from 0`},
	{"two negative dimensions", one(`"F32"`, `[-1,-2]`, `[0,8]`), `shape[0]: got -1, want`},
	{"negative zero", one(`"F32"`, `[-0]`, `[0,8]`), `shape[0]: got -0, want`},
	{"fraction", one(`"F32"`, `[2.0]`, `[0,8]`), `shape[0]: got 2.0, want`},
	{"exponent", one(`"F32"`, `[2e0]`, `[0,8]`), `shape[0]: got 2e0, want`},
	{"dimension of 2^63", one(`"U8"`, `[9223372036854775808]`, `[0,8]`),
		`shape: got 9223372036854775808, which is too large`},
	{"dimension is a string", one(`"F32"`, `["2"]`, `[0,8]`), `shape[0]: got "2", want a whole number`},
	{"dimension is a list", one(`"F32"`, `[[2]]`, `[0,8]`), `shape[0]: got [2], want a whole number`},
	{"elements overflow", one(`"U8"`, `[4294967296,4294967296,1]`, `[0,8]`),
		`shape: got [4294967296 4294967296 1], which has too many`},
	{"elements overflow to 8", one(`"U8"`, `[2305843009213693953,8]`, `[0,8]`), `too many elements`},
	{"bytes overflow to 8", one(`"F32"`, `[4611686018427387906]`, `[0,8]`), `too many elements`},
	{"overflow hidden by a zero", one(`"U8"`, `[4294967296,0,4294967296]`, `[0,0]`), `too many elements`},
	{"too many axes", one(`"U8"`, `[8`+strings.Repeat(",1", 64)+`]`, `[0,8]`), `shape: got 65 axes, want at most 64`},

	{"offsets missing", one(`"F32"`, `[2]`, `[]`), `"w": data_offsets: got 0 numbers, want 2`},
	{"one offset", one(`"F32"`, `[2]`, `[8]`), `"w": data_offsets: got 1 numbers, want 2`},
	{"three offsets", one(`"F32"`, `[2]`, `[0,8,8]`), `data_offsets: got 3 numbers, want 2`},
	{"offsets reversed", one(`"F32"`, `[2]`, `[8,0]`), `data_offsets: got [8 0], want the first not above`},
	{"offset of 2^63", one(`"U8"`, `[8]`, `[9223372036854775800,9223372036854775808]`),
		`data_offsets: got [9223372036854775800 9223372036854775808], want`},
	{"negative offset", one(`"F32"`, `[2]`, `[-8,0]`), `data_offsets[0]: got -8, want`},
	{"offsets shorter than the shape", one(`"F32"`, `[2]`, `[0,4]`),
		`got [0 4], which is 4 bytes, want 8 for shape [2] of F32`},
	{"offsets longer than the shape", one(`"F32"`, `[1]`, `[0,8]`), `which is 8 bytes, want 4 for shape [1] of F32`},
	{"scalar without data", one(`"F64"`, `[]`, `[0,0]`), `which is 0 bytes, want 8 for shape [] of F64`},
	{"vast tensor", one(`"U8"`, `[4611686018427387904]`, `[0,4611686018427387904]`),
		`tensor "w": data ends at byte 4611686018427387904, but the file holds only 8`},
	{"truncated data", one(`"F32"`, `[3]`, `[0,12]`), `data ends at byte 12, but the file holds only 8 bytes`},
	{"trailing bytes", one(`"F32"`, `[1]`, `[0,4]`), "4 trailing bytes after the last tensor"},
	{"data without a tensor", file(`{}`, 3), "3 trailing bytes"},
	{"data does not start at 0", one(`"F32"`, `[1]`, `[4,8]`), `tensor "w": data starts at byte 4, want 0`},
	{"hole", two(`[3]`, `[0,3]`, `[4]`, `[4,8]`), `tensor "b": data starts at byte 4, want 3: the bytes between`},
	{"overlap", two(`[5]`, `[0,5]`, `[4]`, `[4,8]`),
		`tensor "b": data starts at byte 4, inside tensor "a" which ends at 5`},
	{"same data twice", two(`[8]`, `[0,8]`, `[8]`, `[0,8]`), `tensor "b": data starts at byte 0, inside tensor "a"`},
	{"overlap, later one first", two(`[4]`, `[4,8]`, `[5]`, `[0,5]`),
		`tensor "a": data starts at byte 4, inside tensor "b"`},
	{"empty tensor in a hole", two(`[0]`, `[9,9]`, `[8]`, `[0,8]`), `tensor "a": data starts at byte 9, want 8`},
	{"empty tensor inside another", two(`[0]`, `[3,3]`, `[8]`, `[0,8]`),
		`tensor "a": data starts at byte 3, inside tensor "b"`},

	{"boolean of 2", file(`{"w":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}}`, 0) + "\x02",
		`tensor "w": BOOL element: got byte 2, want 0 or 1`},
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
		// The header of the longest row is 120 kB; it is read once and tokenised once.
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

// A header is read without copying each of its parts, because copying would take most of the time.
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
