package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWriteExactBytes(t *testing.T) {
	var got bytes.Buffer
	require.NoError(t, Write(&got, &File{
		Metadata: map[string]string{"b": "2", "a": "1"},
		Tensors:  []Tensor{{Name: "m", Shape: []int{1}, Data: []bool{true}}, {Name: "x", Shape: nil, Data: []float32{1}}},
	}))
	want := "\x90\x00\x00\x00\x00\x00\x00\x00" +
		`{"__metadata__":{"a":"1","b":"2"},` +
		`"x":{"dtype":"F32","shape":[],"data_offsets":[0,4]},` +
		`"m":{"dtype":"BOOL","shape":[1],"data_offsets":[4,5]}}    ` +
		"\x00\x00\x80\x3f\x01"
	assert.Equal(t, want, got.String())
}

func TestWriteNothing(t *testing.T) {
	for _, f := range []*File{{}, {Metadata: map[string]string{}, Tensors: []Tensor{}}} {
		var got bytes.Buffer
		require.NoError(t, Write(&got, f))
		assert.Equal(t, "\x08\x00\x00\x00\x00\x00\x00\x00{}      ", got.String())
	}
}

func TestWriteDoesNotChangeItsArgument(t *testing.T) {
	f := &File{Tensors: []Tensor{
		{Name: "a", Shape: []int{1}, Data: []int8{1}, DType: "anything"},
		{Name: "b", Shape: []int{1}, Data: []int64{1}},
	}}
	require.NoError(t, Write(&bytes.Buffer{}, f))
	assert.Equal(t, &File{Tensors: []Tensor{
		{Name: "a", Shape: []int{1}, Data: []int8{1}, DType: "anything"},
		{Name: "b", Shape: []int{1}, Data: []int64{1}},
	}}, f)
}

// Every tensor starts at a multiple of its element size in the file; tensors of one
// element size keep their order.
func TestWriteAligns(t *testing.T) {
	f := &File{Tensors: []Tensor{
		{Name: "u", Shape: []int{3}, Data: []uint8{1, 2, 3}},
		{Name: "z", Shape: []int{1}, Data: []float32{1}},
		{Name: "h", Shape: []int{1}, Data: []int16{1}},
		{Name: "d", Shape: []int{1}, Data: []float64{1}},
		{Name: "a", Shape: []int{1}, Data: []float32{1}},
		{Name: "i", Shape: []int{1}, Data: []int64{1}},
	}}
	var b bytes.Buffer
	require.NoError(t, Write(&b, f))
	n := binary.LittleEndian.Uint64(b.Bytes())
	assert.Zero(t, n%8)
	h := must(parseHeader(b.Bytes()[8:8+n], int64(b.Len())-8-int64(n)))
	var names []string
	for _, e := range h.entries {
		names = append(names, e.name)
		assert.Zero(t, (8+int64(n)+e.begin)%int64(e.dtype.Size()), e.name)
	}
	assert.Equal(t, []string{"d", "i", "z", "a", "h", "u"}, names)
}

func TestWriteRefuses(t *testing.T) {
	ok := []float32{1, 2}
	rows := []struct {
		name string
		f    *File
		want string
	}{
		{"nil", nil, "file: got nil"},
		{"no data", &File{Tensors: []Tensor{{Name: "w"}}}, `tensor "w": data: got <nil>, want a slice`},
		{"data of another type", &File{Tensors: []Tensor{{Name: "w", Shape: []int{1}, Data: []int{1}}}},
			`data: got []int, want`},
		{"scalar instead of slice", &File{Tensors: []Tensor{{Name: "w", Data: 1.0}}}, `data: got float64, want`},
		{"shape too small", &File{Tensors: []Tensor{{Name: "w", Shape: []int{1}, Data: ok}}},
			`shape: got [1], want one that holds the 2 elements`},
		{"no shape", &File{Tensors: []Tensor{{Name: "w", Data: ok}}}, `shape: got [], want one`},
		{"negative", &File{Tensors: []Tensor{{Name: "w", Shape: []int{-1, -2}, Data: ok}}}, `shape: got [-1 -2], want`},
		{"overflow", &File{Tensors: []Tensor{{Name: "w", Shape: []int{math.MaxInt, 4, 0}, Data: []int8{}}}},
			` 4 0], want one that holds the 0 elements`},
		{"too many axes", &File{Tensors: []Tensor{{Name: "w", Shape: make([]int, 65), Data: []int8{}}}},
			`shape: got 65 axes, want at most 64`},
		{"name twice",
			&File{Tensors: []Tensor{{Name: "w", Shape: []int{2}, Data: ok}, {Name: "w", Shape: []int{2}, Data: ok}}},
			`tensor "w": the name is taken`},
		{"name of the metadata", &File{Tensors: []Tensor{{Name: "__metadata__", Shape: []int{2}, Data: ok}}},
			`tensor "__metadata__": the name is taken`},
		{"name not UTF-8", &File{Tensors: []Tensor{{Name: "\xff", Shape: []int{2}, Data: ok}}},
			`tensor "\xff": name: not valid UTF-8`},
		{"metadata key not UTF-8", &File{Metadata: map[string]string{"\xff": ""}}, `metadata "\xff": not valid UTF-8`},
		{"metadata value not UTF-8", &File{Metadata: map[string]string{"k": "\xff"}}, `metadata "k": not valid UTF-8`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var b bytes.Buffer
			err := Write(&b, row.f)
			require.ErrorContains(t, err, row.want)
			assert.Zero(t, b.Len(), "bytes written before the error")

			dir := t.TempDir()
			path := filepath.Join(dir, "x.safetensors")
			require.EqualError(t, WriteFile(path, row.f), strings.Replace(err.Error(), ": ", ": "+path+": ", 1))
			assert.Empty(t, list(t, dir))
		})
	}
}

func TestWriteRefusesALongHeader(t *testing.T) {
	long := &File{Tensors: make([]Tensor, maxTensors)}
	for i := range long.Tensors {
		long.Tensors[i] = Tensor{Name: fmt.Sprintf("%0*d", maxName, i), Shape: []int{0}, Data: []int8{}}
	}
	for _, row := range []struct {
		file *File
		want string
	}{
		{file: long, want: "header: needs 107500008 bytes, want at most 100000000"},
		{file: &File{Metadata: map[string]string{"k": strings.Repeat("x", maxMetadata)}},
			want: "metadata: needs 16777224 bytes, want at most 16777216"},
	} {
		var b bytes.Buffer
		assert.EqualError(t, Write(&b, row.file), "safetensors: "+row.want)
		assert.Zero(t, b.Len())
	}
}

// A writer may fail at any call; Write returns its error.
func TestWritePassesOnTheWritersError(t *testing.T) {
	full := errors.New("disk full")
	f := &File{Tensors: []Tensor{{Name: "w", Shape: []int{3 * chunk / 4}, Data: make([]float32, 3*chunk/4)}}}
	for calls := range 4 { // the header and three chunks
		w := &failingWriter{left: calls, err: full}
		require.ErrorIs(t, Write(w, f), full, "after %d calls", calls)
	}
	require.NoError(t, Write(&failingWriter{left: 4, err: full}, f))
}

type failingWriter struct {
	left int
	err  error
}

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left == 0 {
		return 0, w.err
	}
	w.left--
	return len(b), nil
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.safetensors")
	for _, v := range []int64{1, 2} { // a new file, then an existing one
		want := &File{Metadata: map[string]string{"k": "v"}, Tensors: []Tensor{{"w", []int{1}, []int64{v}, I64}}}
		require.NoError(t, WriteFile(path, want))
		assert.Equal(t, want, must(ReadFile(path)))
		assert.Equal(t, []string{"x.safetensors"}, list(t, dir))
	}
	assert.Equal(t, fs.FileMode(0o644), must(os.Stat(path)).Mode().Perm())

	// A failed write does not change the good file.
	require.Error(t, WriteFile(path, &File{Tensors: []Tensor{{Name: "w"}}}))
	assert.Equal(t, []int64{2}, must(ReadFile(path)).Tensors[0].Data)
}

func TestFileErrorsNameThePath(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "no", "x")
	_, err := ReadFile(missing)
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorContains(t, err, missing)
	err = WriteFile(missing, &File{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorContains(t, err, missing)

	_, err = ReadFile(dir)
	assert.ErrorContains(t, err, dir)
	assert.ErrorContains(t, WriteFile(dir, &File{}), dir)
	assert.Empty(t, list(t, dir))

	bad := filepath.Join(dir, "bad")
	require.NoError(t, os.WriteFile(bad, []byte("x"), 0o644))
	_, err = ReadFile(bad)
	assert.EqualError(t, err, "safetensors: "+bad+": file is 1 bytes, want at least the 8 of the header's length")
}

// list returns the names in a directory, with hidden ones.
func list(t *testing.T, dir string) []string {
	t.Helper()
	entries := must(os.ReadDir(dir))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
