package safetensors

import (
	"bytes"
	"cmp"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	_ "attention/internal/testenv"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// pythonFile is the file that testdata/torch/golden.py wrote with PyTorch 1.13 for the
// tensors and metadata of pythonContent, given in another order.
const pythonFile = "\xd0\x02\x00\x00\x00\x00\x00\x00" + pythonHeader +
	`"half":{"dtype":"F16","shape":[3],"data_offsets":[64,70]},` +
	`"bf":{"dtype":"BF16","shape":[3],"data_offsets":[70,76]},` +
	`"i16":{"dtype":"I16","shape":[2],"data_offsets":[76,80]},` +
	`"mask":{"dtype":"BOOL","shape":[1,3],"data_offsets":[80,83]},` +
	`"i8":{"dtype":"I8","shape":[1],"data_offsets":[83,84]},` +
	`"u8":{"dtype":"U8","shape":[2],"data_offsets":[84,86]}}   ` +
	pythonWide + "\x00<\xff\xfb\x01\x00" + "\x80?b\xff\xcd=" + pythonNarrow

// pythonFileWithoutHalves is pythonFile without the tensors half and bf.
const pythonFileWithoutHalves = "\x60\x02\x00\x00\x00\x00\x00\x00" + pythonHeader +
	`"i16":{"dtype":"I16","shape":[2],"data_offsets":[64,68]},` +
	`"mask":{"dtype":"BOOL","shape":[1,3],"data_offsets":[68,71]},` +
	`"i8":{"dtype":"I8","shape":[1],"data_offsets":[71,72]},` +
	`"u8":{"dtype":"U8","shape":[2],"data_offsets":[72,74]}}      ` +
	pythonWide + pythonNarrow

const (
	pythonHeader = `{"__metadata__":{"a":"π\n","format":"pt","torch":"1.13.0"},` +
		`"steps":{"dtype":"I64","shape":[3],"data_offsets":[0,24]},` +
		`"höhe \"λ\"<&>":{"dtype":"F64","shape":[],"data_offsets":[24,32]},` +
		`"wte.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[32,56]},` +
		`"i32":{"dtype":"I32","shape":[2,1],"data_offsets":[56,64]},` +
		`"empty":{"dtype":"F32","shape":[2,0,3],"data_offsets":[64,64]},`
	// the data of these five: 8, 8, 4, 4 and 4 bytes an element
	pythonWide = "\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\x7f" +
		"\x9a\x99\x99\x99\x99\x99\xb9?" +
		"\x00\x00\xc0?\x00\x00\x00\xc0\x00\x00\x80\x7f\xff\xff\x7f\x7f\x01\x00\x00\x00\x00\x00\x00\x80" +
		"\x00\x00\x00\x80\x07\x00\x00\x00"
	// and of i16, mask, i8 and u8
	pythonNarrow = "\x00\x80\x05\x00" + "\x01\x00\x01" + "\x80" + "\x00\xff"
)

// pythonContent returns the content of pythonFile, its numbers as in the Python script.
func pythonContent() *File {
	inf, negativeZero := float32(math.Inf(1)), float32(math.Copysign(0, -1))
	return &File{
		Metadata: map[string]string{"torch": "1.13.0", "a": "π\n", "format": "pt"},
		Tensors: []Tensor{
			{"steps", []int{3}, []int64{-1, 0, math.MaxInt64}, I64},
			{`höhe "λ"<&>`, []int{}, []float64{0.1}, F64},
			{"wte.weight", []int{2, 3}, []float32{1.5, -2, inf, math.MaxFloat32, 1e-45, negativeZero}, F32},
			{"i32", []int{2, 1}, []int32{math.MinInt32, 7}, I32},
			{"empty", []int{2, 0, 3}, []float32{}, F32},
			{"half", []int{3}, []float32{1, -65504, 0x1p-24}, F16},
			// -3e38 and 0.1, rounded to the 8 bits of a bfloat16
			{"bf", []int{3}, []float32{1, -0xe2p+120, 0xcdp-11}, BF16},
			{"i16", []int{2}, []int16{-32768, 5}, I16},
			{"mask", []int{1, 3}, []bool{true, false, true}, BOOL},
			{"i8", []int{1}, []int8{-128}, I8},
			{"u8", []int{2}, []uint8{0, 255}, U8},
		},
	}
}

// must checks the error of a call that a test needs but does not test.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

func readString(s string) (*File, error) {
	return Read(bytes.NewReader([]byte(s)), int64(len(s)))
}

func TestReadsWhatPythonWrote(t *testing.T) {
	got := must(readString(pythonFile))
	assert.Equal(t, pythonContent(), got)
	w, _ := got.Get("wte.weight")
	assert.True(t, math.Signbit(float64(w.Data.([]float32)[5])), "the sign of -0")
}

// Both writers write the same bytes, except for half precision, which Go widens.
func TestWritesWhatPythonWrites(t *testing.T) {
	read := must(readString(pythonFile))
	read.Tensors = slices.DeleteFunc(read.Tensors, func(x Tensor) bool { return x.DType == F16 || x.DType == BF16 })
	var got bytes.Buffer
	require.NoError(t, Write(&got, read))
	assert.Equal(t, pythonFileWithoutHalves, got.String())
}

func TestGet(t *testing.T) {
	f := pythonContent()
	x, ok := f.Get("i8")
	assert.True(t, ok)
	assert.Equal(t, f.Tensors[9], x)
	_, ok = f.Get("i9")
	assert.False(t, ok)
}

// fileGenerator generates files with any names, shapes, types and numbers.
var fileGenerator = rapid.Custom(func(t *rapid.T) *File {
	f := &File{Tensors: []Tensor{}}
	if m := rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "metadata"); len(m) > 0 {
		f.Metadata = m
	}
	names := rapid.SliceOfDistinct(rapid.String(), rapid.ID[string]).Draw(t, "names")
	for _, name := range names {
		shape := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 4).Draw(t, "shape")
		n, _ := countElements(shape)
		x := Tensor{Name: name, Shape: append([]int{}, shape...)}
		x.Data = dataGenerator(n).Draw(t, "data")
		x.DType = dtypeOf(x.Data)
		f.Tensors = append(f.Tensors, x)
	}
	return f
})

// dataGenerator generates n elements of any type, floats from their bits, so that any NaN
// can occur.
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

// inFileOrder returns f with its tensors in the order of their data.
func inFileOrder(f *File) *File {
	g := *f
	g.Tensors = slices.Clone(f.Tensors)
	slices.SortStableFunc(g.Tensors, func(a, b Tensor) int { return cmp.Compare(b.DType.Size(), a.DType.Size()) })
	return &g
}

// bitsOf replaces floats with their bits, so that a NaN equals itself.
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
		got := must(Read(bytes.NewReader(first.Bytes()), int64(first.Len())))
		assert.Equal(t, bitsOf(inFileOrder(f)), bitsOf(got))
		require.NoError(t, Write(&second, got))
		assert.Equal(t, first.Bytes(), second.Bytes())
	})
}

// Tensors are longer than the buffer and no multiple of it.
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
	got := must(Read(bytes.NewReader(b.Bytes()), int64(b.Len())))
	require.True(t, slices.EqualFunc(f.Tensors, got.Tensors, func(a, b Tensor) bool {
		return a.Name == b.Name && a.DType == b.DType && assert.ObjectsAreEqual(a.Data, b.Data)
	}))
}

// Reading and writing need little more memory than the tensors.
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
		must(ReadFile(path))
	}), size+little)
}
