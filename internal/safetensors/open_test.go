package safetensors

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// written returns the path of a file with the given bytes.
func written(t *testing.T, content string) string {
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

// A Reader returns the tensors of Read, in any order and in both types.
func TestReaderEqualsRead(t *testing.T) {
	r := must(Open(written(t, pythonFile)))
	defer r.Close()
	want := pythonContent()
	require.Equal(t, want.Metadata, r.Metadata())
	var without []Tensor
	for _, x := range want.Tensors {
		x.Data = nil
		without = append(without, x)
	}
	require.Equal(t, without, r.Tensors())
	for _, name := range []string{"bf", "wte.weight", "empty", "half"} {
		x, _ := want.Get(name)
		data := x.Data.([]float32)
		got, wide := make([]float32, len(data)), make([]float64, len(data))
		require.NoError(t, ReadFloats(r, name, got))
		require.Equal(t, x, must(r.Read(name)))
		require.NoError(t, ReadFloats(r, name, wide))
		require.Equal(t, data, got)
		for i, v := range data {
			require.Equal(t, float64(v), wide[i])
		}
	}
	scalar, rounded := []float64{0}, []float32{0}
	require.NoError(t, ReadFloats(r, `höhe "λ"<&>`, scalar))
	require.NoError(t, ReadFloats(r, `höhe "λ"<&>`, rounded))
	require.Equal(t, []float64{0.1}, scalar)
	require.Equal(t, []float32{0.1}, rounded)
}

func TestReaderRefuses(t *testing.T) {
	path := written(t, pythonFile)
	r := must(Open(path))
	require.EqualError(t, ReadFloats(r, "none", []float32{}),
		"safetensors: "+path+`: tensor "none": there is none of this name`)
	require.ErrorContains(t, ReadFloats(r, "half", []float32{1}), `tensor "half": destination: got 1 elements, want 3`)
	require.ErrorContains(t, ReadFloats(r, "i32", []float32{1, 2}),
		`tensor "i32": dtype: got I32, want F64, F32, F16 or BF16`)
	require.NoError(t, os.Truncate(path, 730)) // as another process could do
	require.ErrorContains(t, ReadFloats(r, "wte.weight", make([]float64, 6)), "unexpected EOF")
	require.NoError(t, r.Close())
	require.ErrorIs(t, ReadFloats(r, "wte.weight", make([]float64, 6)), os.ErrClosed)

	_, err := Open(path + ".none")
	require.ErrorIs(t, err, os.ErrNotExist)
	for _, row := range hostile {
		if row.name == "boolean of 2" { // the data is damaged, the header is not
			continue
		}
		_, err := Open(written(t, row.file))
		require.ErrorContains(t, err, row.want, row.name)
	}
}

// Parts of a tensor equal the same parts from Read; elements of several buffers keep their order.
func TestReadPart(t *testing.T) {
	data := make([]float32, 70000) // of several buffers
	for i := range data {
		data[i] = float32(i)
	}
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, WriteFile(path, &File{Tensors: []Tensor{{Name: "i", Shape: []int{3}, Data: []int64{1, 2, 3}},
		{Name: "f", Shape: []int{70000}, Data: data}}}))
	r := must(Open(path))
	defer r.Close()
	for _, row := range []struct{ lo, n int }{{0, 70000}, {0, 0}, {70000, 0}, {5, 69995}, {33333, 20000}, {69999, 1}} {
		got := make([]float32, row.n)
		require.NoError(t, r.ReadPart("f", row.lo, got))
		require.Equal(t, data[row.lo:][:row.n], got)
	}
	all := make([]float32, len(data))
	require.NoError(t, ReadFloats(r, "f", all))
	require.Equal(t, data, all)
	got := make([]int64, 2)
	require.NoError(t, r.ReadPart("i", 1, got))
	require.Equal(t, []int64{2, 3}, got)
	require.ErrorContains(t, r.ReadPart("i", 2, got), `tensor "i": destination: got 2 elements from 2 on, want some of 3`)
	require.ErrorContains(t, r.ReadPart("i", -1, got), "got 2 elements from -1 on")
	require.ErrorContains(t, r.ReadPart("i", 0, data), "destination: got a []float32, want a []int64")
	require.ErrorContains(t, r.ReadPart("none", 0, got), `tensor "none": there is none of this name`)
}
