package safetensors

import (
	"bytes"
	"cmp"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// fileGenerator draws files with any names, shapes, types and numbers.
var fileGenerator = rapid.Custom(func(t *rapid.T) *File {
	f := &File{Tensors: []Tensor{}}
	if m := rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "metadata"); len(m) > 0 {
		f.Metadata = m
	}
	names := rapid.SliceOfDistinct(rapid.String(), rapid.ID[string]).Draw(t, "names")
	for _, name := range names {
		shape := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 4).Draw(t, "shape")
		n, _ := elements(shape)
		x := Tensor{Name: name, Shape: append([]int{}, shape...)}
		x.Data = dataGenerator(n).Draw(t, "data")
		x.DType, _ = typeOf(x.Data)
		f.Tensors = append(f.Tensors, x)
	}
	return f
})

// dataGenerator draws n elements of some type. Floats are drawn as bits, so
// that every NaN is among them.
func dataGenerator(n int) *rapid.Generator[any] {
	bits32 := rapid.SliceOfN(rapid.Map(rapid.Uint32(), math.Float32frombits), n, n)
	bits64 := rapid.SliceOfN(rapid.Map(rapid.Uint64(), math.Float64frombits), n, n)
	return rapid.OneOf(
		bits32.AsAny(), bits64.AsAny(),
		rapid.SliceOfN(rapid.Int64(), n, n).AsAny(),
		rapid.SliceOfN(rapid.Int32(), n, n).AsAny(),
		rapid.SliceOfN(rapid.Int16(), n, n).AsAny(),
		rapid.SliceOfN(rapid.Int8(), n, n).AsAny(),
		rapid.SliceOfN(rapid.Uint8(), n, n).AsAny(),
		rapid.SliceOfN(rapid.Bool(), n, n).AsAny(),
	)
}

// inFileOrder returns f as a reader of its file sees it.
func inFileOrder(f *File) *File {
	g := *f
	g.Tensors = slices.Clone(f.Tensors)
	slices.SortStableFunc(g.Tensors, func(a, b Tensor) int { return cmp.Compare(b.DType.Size(), a.DType.Size()) })
	return &g
}

// bitsOf replaces floats by their bits, for which NaN equals itself.
func bitsOf(f *File) *File {
	g := &File{Metadata: f.Metadata, Tensors: slices.Clone(f.Tensors)}
	for i := range g.Tensors {
		switch d := g.Tensors[i].Data.(type) {
		case []float32:
			bits := make([]uint32, len(d))
			for j, v := range d {
				bits[j] = math.Float32bits(v)
			}
			g.Tensors[i].Data = bits
		case []float64:
			bits := make([]uint64, len(d))
			for j, v := range d {
				bits[j] = math.Float64bits(v)
			}
			g.Tensors[i].Data = bits
		}
	}
	return g
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := fileGenerator.Draw(t, "file")
		var first, second bytes.Buffer
		require.NoError(t, Write(&first, f))
		got, err := Read(bytes.NewReader(first.Bytes()), int64(first.Len()))
		require.NoError(t, err)
		assert.Equal(t, bitsOf(inFileOrder(f)), bitsOf(got))
		require.NoError(t, Write(&second, got))
		assert.Equal(t, first.Bytes(), second.Bytes())
	})
}

// Tensors longer than the buffer, and not a multiple of it.
func TestRoundTripOfManyChunks(t *testing.T) {
	n := 3*chunk + 7
	f32, i64, u8, yes := make([]float32, n), make([]int64, n), make([]uint8, n), make([]bool, n)
	for i := range n {
		f32[i], i64[i], u8[i], yes[i] = float32(i), int64(i)<<20, uint8(i*7), i%3 == 0
	}
	f := &File{Tensors: []Tensor{
		{"i", []int{n}, i64, I64}, {"f", []int{1, n}, f32, F32}, {"u", []int{n, 1}, u8, U8}, {"b", []int{n}, yes, BOOL},
	}}
	var b bytes.Buffer
	require.NoError(t, Write(&b, f))
	got, err := Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	require.True(t, slices.EqualFunc(f.Tensors, got.Tensors, func(a, b Tensor) bool {
		return a.Name == b.Name && a.DType == b.DType && assert.ObjectsAreEqual(a.Data, b.Data)
	}))
}

// Reading and writing hold the tensors' memory once, and little besides.
func TestMemory(t *testing.T) {
	const size, little = 32 << 20, 1 << 20
	path := filepath.Join(t.TempDir(), "x")
	f := &File{Tensors: []Tensor{{Name: "w", Shape: []int{size / 4}, Data: make([]float32, size/4)}}}
	allocated := func(do func()) int {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		return int(after.TotalAlloc - before.TotalAlloc)
	}
	assert.Less(t, allocated(func() { require.NoError(t, WriteFile(path, f)) }), little)
	assert.Less(t, allocated(func() {
		_, err := ReadFile(path)
		require.NoError(t, err)
	}), size+little)
}
