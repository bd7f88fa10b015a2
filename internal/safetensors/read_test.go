package safetensors

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A source may end early or fail, for example if the file is truncated while it is read.
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

// The format allows these odd files.
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
		{"header in another order than the data", file(`{"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]},`+
			`"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 0) + "\x01\x02\x03",
			&File{Tensors: []Tensor{u8("a", 1, 2), u8("b", 3)}}},
		{"empty tensors between others", file(`{"c":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},`+
			`"b":{"dtype":"U8","shape":[0],"data_offsets":[1,1]},`+
			`"z":{"dtype":"U8","shape":[0],"data_offsets":[2,2]},`+
			`"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 0) + "\x01\x02",
			&File{Tensors: []Tensor{u8("a", 1), u8("b"), u8("c", 2), u8("z")}}},
		{"names empty and escaped", file(`{"":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},`+
			`"\u00e9\ud83d\uDE00\\ud800\ufffd":{"dtype":"U8","shape":[0],"data_offsets":[1,1]}}`, 1),
			&File{Tensors: []Tensor{u8("", 0), u8("é😀\\ud800\ufffd")}}},
		{"as many axes as allowed", file(`{"a":{"dtype":"U8","shape":[`+many+`],"data_offsets":[0,1]}}`, 1),
			&File{Tensors: []Tensor{{"a", bytesToInts(bytes.Repeat([]byte{1}, 64)), []uint8{0}, U8}}}},
		{"misaligned", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},`+
			`"b":{"dtype":"F32","shape":[],"data_offsets":[1,5]}}`, 0) + "\x07\x00\x00\x80\x3f",
			&File{Tensors: []Tensor{u8("a", 7), {"b", []int{}, []float32{1}, F32}}}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, must(readString(row.file)))
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

// FuzzRead reads any bytes. An accepted file must be consistent and equal after it is
// written and read again; any other must be an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(pythonFile))
	f.Add([]byte(file(`{}`, 0)))
	f.Add([]byte(file(`{"\ud83d\ude00":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]}}`, 4)))
	for _, row := range hostile {
		if len(row.file) < 1000 { // the longer ones only slow the fuzzer down
			f.Add([]byte(row.file))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			require.Nil(t, got)
			require.Less(t, len(err.Error()), 2000)
			return
		}
		for _, x := range got.Tensors {
			n, ok := countElements(x.Shape)
			held := reflect.ValueOf(x.Data).Len()
			require.True(t, ok)
			require.Equal(t, n, held)
			require.LessOrEqual(t, n*x.DType.Size(), len(b))
		}
		var first, second bytes.Buffer
		require.NoError(t, Write(&first, got))
		again := must(Read(bytes.NewReader(first.Bytes()), int64(first.Len())))
		for i := range got.Tensors { // Write itself chooses these
			got.Tensors[i].DType = dtypeOf(got.Tensors[i].Data)
		}
		if len(got.Metadata) == 0 {
			got.Metadata = nil
		}
		assert.Equal(t, bitsOf(inFileOrder(got)), bitsOf(again))
		require.NoError(t, Write(&second, again))
		require.Equal(t, first.Bytes(), second.Bytes())
	})
}
