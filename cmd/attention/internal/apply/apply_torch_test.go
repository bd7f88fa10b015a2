package apply

import (
	"iter"
	"path/filepath"
	"slices"
	"testing"

	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// withoutGradOutput copies the input file without grad_output.
func withoutGradOutput(t testing.TB, f files) files {
	file, err := safetensors.ReadFile(f.input)
	require.NoError(t, err)
	file.Tensors = slices.DeleteFunc(file.Tensors, func(t safetensors.Tensor) bool { return t.Name == "grad_output" })
	f.input = filepath.Join(t.TempDir(), "in.safetensors")
	require.NoError(t, safetensors.WriteFile(f.input, file))
	return f
}

// compareWithTorch requires that the output file has the named tensors of the case's
// reference, in the given dtype and within tol, absolute or relative.
func compareWithTorch(t *testing.T, name string, f files, names []string, dt safetensors.DType, tol float64) {
	want := golden.Load(t, "apply/"+name+"/out.safetensors")
	got, err := safetensors.ReadFile(f.output)
	require.NoError(t, err)
	var gotNames []string
	for _, r := range got.Tensors {
		gotNames = append(gotNames, r.Name)
		require.Equal(t, dt, r.DType, r.Name)
		require.Equal(t, want.Shape(r.Name), r.Shape, r.Name)
		switch data := r.Data.(type) {
		case []float64:
			golden.Close(t, r.Name, want.Float64(r.Name), data, tol, tol)
		case []float32:
			golden.Close(t, r.Name, want.Float32(r.Name), data, tol, tol)
		}
	}
	require.ElementsMatch(t, names, gotNames)
}

// TestApplyEqualsPyTorch runs every case in both types, with gradients and without.
// All sums have a few dozen terms of order 1, so rounding stays far below the
// promised 1e-10 in float64 and 1e-5 in float32.
func TestApplyEqualsPyTorch(t *testing.T) {
	for _, name := range caseNames(t) {
		t.Run(name, func(t *testing.T) {
			all := golden.Load(t, "apply/"+name+"/out.safetensors").Names()
			f := caseFiles(t, name)
			if name == "half" { // F16, BF16 and F32 in, float32 out
				_, err := f.run(t)
				require.NoError(t, err)
				compareWithTorch(t, name, f, all, safetensors.F32, 1e-5)
				return
			}
			for _, r := range []struct {
				files files
				names []string
				flags []string
				dt    safetensors.DType
				tol   float64
			}{
				{f, all, nil, safetensors.F64, 1e-10},
				{f, all, []string{"--dtype", "float32"}, safetensors.F32, 1e-5},
				{withoutGradOutput(t, f), []string{"output", "weights"}, []string{"--dtype=float64"}, safetensors.F64, 1e-10},
				{withoutGradOutput(t, f), []string{"output", "weights"}, []string{"--dtype=float32"}, safetensors.F32, 1e-5},
			} {
				_, err := r.files.run(t, r.flags...)
				require.NoError(t, err)
				compareWithTorch(t, name, r.files, r.names, r.dt, r.tol)
			}
		})
	}
}

// TestApplyWidens: F16, BF16 and F32 files can be computed with in float64; the
// reference is rounded to float32.
func TestApplyWidens(t *testing.T) {
	f := caseFiles(t, "half")
	_, err := f.run(t, "--dtype", "float64")
	require.NoError(t, err)
	compareWithTorch(t, "half", f, golden.Load(t, "apply/half/out.safetensors").Names(), safetensors.F64, 1e-7)
}

// TestApplyParameters: the tensors that the command wants are the parameters of the
// layer, in their order.
func TestApplyParameters(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range caseNames(t) {
		l, err := readLayer(caseFiles(t, name).config)
		require.NoError(t, err)
		seen[l.name] = true
		p := layers.NewParams(tensor.Float32, 0)
		_, err = l.build(p.Scope(""))
		require.NoError(t, err)
		require.Equal(t, p.Len(), l.parameters.Len(), name)
		made, stop := iter.Pull2(p.All())
		defer stop()
		for parameter, shape := range l.parameters.Shapes() {
			madeName, value, ok := made()
			require.True(t, ok)
			require.Equal(t, madeName, parameter, name)
			require.Equal(t, value.Shape(), shape, parameter)
		}
	}
	require.Len(t, seen, len(layerNames()))
}
