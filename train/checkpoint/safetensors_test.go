package checkpoint_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/internal/safetensors"
	"attention/internal/small"
	"attention/layers"
	"attention/train/checkpoint"
	"attention/train/loop"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func TestParamsSurviveAFile(t *testing.T) {
	for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		path := filepath.Join(t.TempDir(), "model.safetensors")
		from, to := small.New(t, dtype, 1, 0), small.New(t, dtype, 2, 0)
		require.NotEqual(t, small.Bits(from.Values()), small.Bits(to.Values()))
		metadata := map[string]string{"format": "pt", "vocabulary": "ab\n\"ü"}
		require.NoError(t, checkpoint.WriteParams(path, from.Params, metadata))
		got := must(checkpoint.ReadParams(path, to.Params))
		require.Equal(t, metadata, got)
		require.Equal(t, small.Bits(from.Values()), small.Bits(to.Values()))

		f := must(safetensors.ReadFile(path))
		var names []string
		for _, t := range f.Tensors {
			names = append(names, t.Name)
		}
		var want []string
		for name := range from.Params.All() {
			want = append(want, name)
		}
		require.Equal(t, want, names, "the parameters' own names in their order")

		require.NoError(t, checkpoint.WriteParams(path, from.Params, nil))
		got = must(checkpoint.ReadParams(path, to.Params))
		require.Empty(t, got)
	}
}

func TestReadParamsRefusesWithoutChangingAnything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.safetensors")
	p := layers.NewParams(tensor.Float32, 1)
	for _, name := range []string{"a", "b", "c"} {
		must(p.Scope("").Param(name, layers.Constant(7), 2, 1))
	}
	values := func() (all []float32) {
		for _, v := range p.All() {
			all = append(all, v.Float32s()...)
		}
		return all
	}
	before := append([]float32{}, values()...)
	good := func(name string) safetensors.Tensor {
		return safetensors.Tensor{Name: name, Shape: []int{2, 1}, Data: []float32{1, 2}}
	}
	for _, row := range []struct {
		file []safetensors.Tensor
		want string
	}{
		{nil, "missing a, b, c"},
		{[]safetensors.Tensor{good("a"), good("b")}, "missing c"},
		{[]safetensors.Tensor{good("a"), good("b"), good("c"), good("d"), good("solver.a")}, "unknown d, solver.a"},
		{[]safetensors.Tensor{good("a"), good("bb"), good("c")}, "missing b; unknown bb"},
		{[]safetensors.Tensor{good("a"), {Name: "b", Shape: []int{2}, Data: []float32{1, 2}}, good("c")},
			"b is float32 (2), want float32 (2, 1)"},
		{[]safetensors.Tensor{{Name: "a", Shape: []int{2, 1}, Data: []float64{1, 2}}, good("b"),
			{Name: "c", Data: []float32{1}}},
			"a is float64 (2, 1), want float32 (2, 1), c is float32 (), want float32 (2, 1)"},
		{[]safetensors.Tensor{good("a"), {Name: "b", Shape: []int{2, 1}, Data: []bool{true, true}}, good("c")},
			"b is bool (2, 1), want float32 (2, 1)"},
	} {
		require.NoError(t, safetensors.WriteFile(path, &safetensors.File{Tensors: row.file}))
		metadata, err := checkpoint.ReadParams(path, p)
		require.EqualError(t, err, "train: parameters: "+path+": "+row.want)
		require.Nil(t, metadata)
		require.Equal(t, before, values())
	}
	_, err := checkpoint.ReadParams(path+".none", p)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "train: parameters: ")

	// The order of tensors in the file does not matter.
	reversed := []safetensors.Tensor{good("c"), good("a"), good("b")}
	require.NoError(t, safetensors.WriteFile(path, &safetensors.File{Tensors: reversed}))
	must(checkpoint.ReadParams(path, p))
	require.Equal(t, []float32{1, 2, 1, 2, 1, 2}, values())
}

func TestWriteParamsRefuses(t *testing.T) {
	dir := t.TempDir()
	p := layers.NewParams(tensor.Float32, 1)
	w := must(p.Scope("").Param("w", layers.Constant(7), 2, 3))
	err := checkpoint.WriteParams(filepath.Join(dir, "no", "directory"), p, nil)
	require.ErrorContains(t, err, "train: parameters: "+filepath.Join(dir, "no", "directory")+": open ")
	path := filepath.Join(dir, "model.safetensors")
	require.NoError(t, checkpoint.WriteParams(path, p, nil))
	before := must(os.ReadFile(path))

	require.NoError(t, w.Value().T())
	require.EqualError(t, checkpoint.WriteParams(path, p, nil),
		"train: value of w: got a view or a column-major tensor of shape (3, 2), want contiguous row-major data")
	_, err = checkpoint.ReadParams(path, p)
	require.EqualError(t, err, "train: parameters: "+path+": w is float32 (2, 3), want a view of float32 (3, 2)")
	require.Equal(t, before, must(os.ReadFile(path)))
}

// The checksum of WriteParams covers each byte of a file except the checksum's own name: without the name, the file
// counts as another program's.
func TestChangedParamsAreNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.safetensors")
	p := layers.NewParams(tensor.Float32, 1)
	w := must(p.Scope("").Param("w", layers.Constant(7), 2, 3))
	require.NoError(t, checkpoint.WriteParams(path, p, map[string]string{"steps": "4"}))
	whole := must(os.ReadFile(path))
	name := bytes.Index(whole, []byte("attention.sha256"))
	for at := range whole {
		if at >= name && at < name+len("attention.sha256") {
			continue
		}
		changed := bytes.Clone(whole)
		changed[at] ^= 1 << (at % 8)
		require.NoError(t, os.WriteFile(path, changed, 0o644))
		w.Value().Float32s()[0] = 8
		_, err := checkpoint.ReadParams(path, p)
		require.ErrorContains(t, err, "train: parameters: ", "byte %d", at)
		require.Equal(t, float32(8), w.Value().Float32s()[0])
	}
	whole[len(whole)-1] ^= 1
	require.NoError(t, os.WriteFile(path, whole, 0o644))
	_, err := checkpoint.ReadParams(path, p)
	require.ErrorIs(t, err, checkpoint.ErrDamaged)
	require.ErrorContains(t, err, "train: parameters: "+path+": damaged: checksum: got ")
}

func TestWriteParamsTo(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	must(p.Scope("").Param("w", layers.Constant(7), 2, 3))
	path := filepath.Join(t.TempDir(), "model.safetensors")
	require.NoError(t, checkpoint.WriteParams(path, p, nil))
	want := must(os.ReadFile(path))
	var b bytes.Buffer
	require.NoError(t, checkpoint.WriteParamsTo(&b, p, nil))
	require.Equal(t, want, b.Bytes())
	require.ErrorContains(t, checkpoint.WriteParamsTo(&b, p, map[string]string{"attention.sha256": "x"}),
		"train: parameters: safetensors: metadata attention.sha256: got a value, want none")
}

func TestReadTensorRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.safetensors")
	var tensors []safetensors.Tensor
	for _, name := range []string{"scalar", "ids", "matrix", "empty", "mask", "last"} {
		tensors = append(tensors, safetensors.Tensor{Name: name, Shape: []int{0, 3}, Data: []float32{}})
	}
	require.NoError(t, safetensors.WriteFile(path, &safetensors.File{Tensors: tensors}))
	_, err := checkpoint.ReadTensor(path, "empty")
	require.EqualError(t, err, `train: tensor "empty": got shape (0, 3), want every axis at least 1`)
	_, err = checkpoint.ReadTensor(path, "matrox")
	require.EqualError(t, err, "train: safetensors: "+path+`: tensor "matrox": there is none of this name, `+
		`only "scalar", "ids", "matrix", "empty", "mask" and 1 more`)
	_, err = checkpoint.ReadTensor(path+".none", "matrix")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Tensors of every type and shape are read as they were written, except that ints become int64s.
func TestTensorsSurviveAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tensors.safetensors")
	of := func(backing any, shape ...int) *tensor.Dense {
		return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(backing))
	}
	tensors := map[string]*tensor.Dense{
		"f32": of([]float32{1, -2}, 2, 1), "f64": of([]float64{0.1}, 1), "i64": of([]int64{-1 << 60}, 1, 1, 1),
		"i32": of([]int32{1, 2}, 2), "i16": of([]int16{3}, 1), "i8": of([]int8{-4, 5}, 1, 2), "u8": of([]uint8{255}, 1),
		"bool": of([]bool{true, false}, 2), "int": of([]int{-6, 7}, 2),
		"scalar f32": tensor.New(tensor.FromScalar(float32(8))), "scalar int": tensor.New(tensor.FromScalar(9)),
		"scalar bool": tensor.New(tensor.FromScalar(true)), "scalar u8": tensor.New(tensor.FromScalar(uint8(1))),
	}
	metadata := map[string]string{"format": "pt"}
	require.NoError(t, checkpoint.WriteTensors(path, tensors, metadata))
	first := must(os.ReadFile(path))
	got, gotMetadata, err := checkpoint.ReadTensors(path)
	require.NoError(t, err)
	require.Equal(t, metadata, gotMetadata)
	require.Len(t, got, len(tensors))
	tensors["int"], tensors["scalar int"] = of([]int64{-6, 7}, 2), tensor.New(tensor.FromScalar(int64(9)))
	for name, want := range tensors {
		require.Equal(t, want.Dtype(), got[name].Dtype(), name)
		require.Equal(t, want.Shape(), got[name].Shape(), name)
		require.Equal(t, want.Data(), got[name].Data(), name)
		require.Equal(t, want.Data(), must(checkpoint.ReadTensor(path, name)).Data(), name)
	}
	require.NoError(t, checkpoint.WriteTensors(path, got, gotMetadata))
	require.Equal(t, first, must(os.ReadFile(path)), "the same bytes")

	require.NoError(t, checkpoint.WriteTensors(path, nil, nil))
	got, gotMetadata, err = checkpoint.ReadTensors(path)
	require.NoError(t, err)
	require.Empty(t, got)
	require.Empty(t, gotMetadata)
}

func TestWrongTensorsAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tensors.safetensors")
	x := tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]float32{1, 2, 3, 4, 5, 6}))
	for _, c := range []struct {
		tensors map[string]*tensor.Dense
		wantErr string
	}{
		{tensors: map[string]*tensor.Dense{"x": nil}, wantErr: `value of "x": got nil or the zero value, want a tensor`},
		{tensors: map[string]*tensor.Dense{"x": {}}, wantErr: `value of "x": got nil or the zero value, want a tensor`},
		{tensors: map[string]*tensor.Dense{"x": must(x.Slice(nil, tensor.S(0, 1))).(*tensor.Dense)},
			wantErr: "value of x: got a view or a column-major tensor of shape (2), want contiguous row-major data"},
		{tensors: map[string]*tensor.Dense{"x": tensor.New(tensor.WithBacking([]complex64{1, 2}))},
			wantErr: "got []complex64, want a slice of float32"},
		{tensors: map[string]*tensor.Dense{"__metadata__": x}, wantErr: "the name is taken"},
	} {
		err := checkpoint.WriteTensors(path, c.tensors, nil)
		require.ErrorContains(t, err, "train: ")
		require.ErrorContains(t, err, c.wantErr)
		require.NoFileExists(t, path)
	}
	_, _, err := checkpoint.ReadTensors(path)
	require.ErrorIs(t, err, os.ErrNotExist)
	empty := safetensors.File{Tensors: []safetensors.Tensor{{Name: "x", Shape: []int{0, 2}, Data: []float32{}}}}
	require.NoError(t, safetensors.WriteFile(path, &empty))
	_, _, err = checkpoint.ReadTensors(path)
	require.EqualError(t, err, "train: "+path+`: tensor "x": got shape (0, 2), want every axis at least 1`)
}

// hugeFile makes a file with n bytes of data that takes no space on the disk, as an archive could contain.
func hugeFile(t *testing.T, header string, n int64) (path string) {
	path = filepath.Join(t.TempDir(), "huge.safetensors")
	content := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	require.NoError(t, os.WriteFile(path, content, 0o644))
	if err := os.Truncate(path, int64(len(content))+n); err != nil {
		t.Skip("the file system has no such files: ", err)
	}
	return path
}

// If a file is larger than the parameters, only its header is read: its data may exceed the memory.
func TestHugeFilesAreRefused(t *testing.T) {
	const size = 1 << 42
	p := layers.NewParams(tensor.Float32, 1)
	w := must(p.Scope("").Param("w", layers.Constant(7), 2, 3))
	l := must(loop.New(p, func(b *layers.Build, _ layers.Inputs) []*G.Node { return b.Nodes(G.Sum(b.Node(w))) }, small.Config()))
	huge := fmt.Sprintf(`"w":{"dtype":"F32","shape":[%d],"data_offsets":[0,%d]}`, size/4, size)
	seal := `"attention.sha256":"` + strings.Repeat("0", 64) + `"`
	for _, row := range []struct{ header, want string }{
		{header: `{` + huge + `}`, want: "w is float32 (1099511627776), want float32 (2, 3)"},
		{header: `{"__metadata__":{` + seal + `},` + huge + `}`, want: "w is float32 (1099511627776), want float32 (2, 3)"},
	} {
		path := hugeFile(t, row.header, size)
		_, err := checkpoint.ReadParams(path, p)
		require.EqualError(t, err, "train: parameters: "+path+": "+row.want)
	}

	metadata := `{"__metadata__":{"format":"attention checkpoint 3","state":"{\"kernels\":\"go\"}",` + seal + `},`
	path := hugeFile(t, metadata+strings.Replace(huge, `"w"`, `"params.w"`, 1)+`}`, size)
	const want = "params.w is float32 (1099511627776), want float32 (2, 3)"
	_, err := checkpoint.Read(path, p)
	require.EqualError(t, err, "train: checkpoint: "+path+": "+want)
	require.ErrorContains(t, small.Restore(l, path, nil), "train: checkpoint: "+path+": ")
	state := fmt.Sprintf(`"params.w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},`+
		`"solver.exp_avg.w":{"dtype":"F32","shape":[%d],"data_offsets":[24,%d]}`, size/4, size+24)
	path = hugeFile(t, metadata+state+`}`, size+24)
	_, err = checkpoint.Read(path, p)
	require.EqualError(t, err, "train: checkpoint: "+path+": got tensors of 4398046511128 bytes, want at most 1360")
}

// TestUnmadeParams: every function refuses parameters that no function has initialised, and nothing is written.
func TestUnmadeParams(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.safetensors")
	made := layers.NewParams(tensor.Float32, 1)
	must(made.Scope("").Param("a", layers.Constant(7), 2))
	for _, p := range []*layers.Params{nil, new(layers.Params)} {
		require.NoError(t, checkpoint.WriteParams(path, made, nil))
		_, read := checkpoint.ReadParams(path, p)
		_, checkpointed := checkpoint.Read(path, p)
		for _, err := range []error{read, checkpointed, checkpoint.WriteParams(path+".2", p, nil),
			checkpoint.WriteParamsTo(io.Discard, p, nil)} {
			require.EqualError(t, err, "train: parameters: got nil or new(layers.Params), want what layers.NewParams returns")
		}
		require.NoFileExists(t, path+".2")
	}
}
