package golden

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"attention/internal/safetensors"
)

// inModule makes a module with one file, testdata/sub/x.safetensors, and changes to a
// directory two levels below its root.
func inModule(t *testing.T, f *safetensors.File) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	below := filepath.Join(root, "a", "b")
	require.NoError(t, os.MkdirAll(below, 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "testdata", "sub"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), nil, 0o644))
	require.NoError(t, safetensors.WriteFile(filepath.Join(root, "testdata", "sub", "x.safetensors"), f))
	t.Chdir(below)
}

func example() *safetensors.File {
	return &safetensors.File{
		Metadata: map[string]string{"torch": "1.13.0"},
		Tensors: []safetensors.Tensor{
			{Name: "f64", Shape: []int{2, 1}, Data: []float64{0.1, 2}},
			{Name: "i64", Shape: []int{1}, Data: []int64{1 << 40}},
			{Name: "f32", Shape: []int{}, Data: []float32{0.1}},
			{Name: "i32", Shape: []int{1}, Data: []int32{-3}},
			{Name: "i16", Shape: []int{1}, Data: []int16{-2}},
			{Name: "i8", Shape: []int{1}, Data: []int8{-1}},
			{Name: "u8", Shape: []int{1}, Data: []uint8{255}},
			{Name: "bool", Shape: []int{2}, Data: []bool{true, false}},
		},
	}
}

func TestFile(t *testing.T) {
	inModule(t, example())
	f := Load(t, "sub/x.safetensors")
	assert.Equal(t, []string{"f64", "i64", "f32", "i32", "i16", "i8", "u8", "bool"}, f.Names())
	assert.Equal(t, "1.13.0", f.Metadata("torch"))
	assert.Equal(t, []int{2, 1}, f.Shape("f64"))
	assert.Equal(t, []int{}, f.Shape("f32"))
	assert.Equal(t, []float64{0.1, 2}, f.Float64("f64"))
	assert.Equal(t, []float64{float64(float32(0.1))}, f.Float64("f32"))
	assert.Equal(t, []float32{0.1, 2}, f.Float32("f64"))
	assert.Equal(t, []float32{0.1}, f.Float32("f32"))
	assert.Equal(t, []int64{1 << 40}, f.Int64("i64"))
	assert.Equal(t, []int64{-3}, f.Int64("i32"))
	assert.Equal(t, []int64{-2}, f.Int64("i16"))
	assert.Equal(t, []int64{-1}, f.Int64("i8"))
	assert.Equal(t, []int64{255}, f.Int64("u8"))
	assert.Equal(t, []bool{true, false}, f.Bool("bool"))
}

// If a test changes its copy, the next test is not affected.
func TestFileReturnsCopies(t *testing.T) {
	inModule(t, example())
	f := Load(t, "sub/x.safetensors")
	f.Float64("f64")[0] = 9
	f.Float32("f32")[0] = 9
	f.Int64("i64")[0] = 9
	f.Bool("bool")[0] = false
	f.Shape("f64")[0] = 9
	assert.Equal(t, 0.1, f.Float64("f64")[0])
	assert.Equal(t, float32(0.1), f.Float32("f32")[0])
	assert.Equal(t, int64(1<<40), f.Int64("i64")[0])
	assert.True(t, f.Bool("bool")[0])
	assert.Equal(t, 2, f.Shape("f64")[0])
}

func TestFileFailsTheTest(t *testing.T) {
	inModule(t, example())
	rows := []struct {
		name string
		do   func(f *File)
		want string
	}{
		{"Float64 missing", func(f *File) { f.Float64("x") },
			`golden: sub/x.safetensors: no tensor "x"; there are ["f64" "i64"`},
		{"Float32 missing", func(f *File) { f.Float32("x") }, `no tensor "x"`},
		{"Int64 missing", func(f *File) { f.Int64("x") }, `no tensor "x"`},
		{"Bool missing", func(f *File) { f.Bool("x") }, `no tensor "x"`},
		{"Shape missing", func(f *File) { f.Shape("x") }, `no tensor "x"`},
		{"Metadata missing", func(f *File) { f.Metadata("x") }, `golden: sub/x.safetensors: no metadata "x"`},
		{"Float64 of integers", func(f *File) { f.Float64("i32") },
			`golden: sub/x.safetensors: tensor "i32": got I32, want floating-point numbers`},
		{"Float32 of booleans", func(f *File) { f.Float32("bool") }, `tensor "bool": got BOOL, want floating-point numbers`},
		{"Int64 of floats", func(f *File) { f.Int64("f32") }, `tensor "f32": got F32, want integers`},
		{"Bool of bytes", func(f *File) { f.Bool("u8") }, `tensor "u8": got U8, want booleans`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := record(func(t testing.TB) { row.do(Load(t, "sub/x.safetensors")) })
			require.Len(t, r.messages, 1)
			assert.Contains(t, r.messages[0], row.want)
			assert.True(t, r.stopped, "the test must stop")
		})
	}
}

func TestLoadFailsTheTest(t *testing.T) {
	inModule(t, example())
	require.NoError(t, os.WriteFile("../../testdata/broken", []byte("x"), 0o644))
	for _, row := range []struct{ path, want string }{
		{path: "no.safetensors", want: "no such file"},
		{path: "broken", want: "file is 1 bytes"},
	} {
		r := record(func(t testing.TB) { Load(t, row.path) })
		require.Len(t, r.messages, 1, row.path)
		assert.Contains(t, r.messages[0], "golden: "+row.path+": safetensors: ")
		assert.Contains(t, r.messages[0], row.want)
		assert.True(t, r.stopped, row.path)
	}

	t.Chdir(filepath.VolumeName(t.TempDir()) + string(filepath.Separator))
	r := record(func(t testing.TB) { Load(t, "x") })
	require.Len(t, r.messages, 1)
	assert.Contains(t, r.messages[0], "no go.mod in")
	assert.True(t, r.stopped)
}

func TestPath(t *testing.T) {
	inModule(t, example())
	dir, err := os.Getwd()
	require.NoError(t, err)
	root := filepath.Join(dir, "..", "..")

	got, err := Path("sub", "x.safetensors")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(root, "testdata", "sub", "x.safetensors"), got)
	got, err = Path()
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(root, "testdata"), got)

	// The nearest go.mod counts, even if it is in the current directory.
	require.NoError(t, os.WriteFile("go.mod", nil, 0o644))
	got, err = Path()
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "testdata"), got)
}
