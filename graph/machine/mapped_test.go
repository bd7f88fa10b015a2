package machine_test

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/mapped"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// mappedFloats returns a tensor in the memory of a mapped file that holds x, and the file's path.
func mappedFloats(t *testing.T, x []float32, shape ...int) (*tensor.Dense, string) {
	path := filepath.Join(t.TempDir(), "weights")
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*len(x))
	require.NoError(t, os.WriteFile(path, bytes, 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	memory, err := mapped.Map(f, int64(len(bytes)))
	if err != nil {
		t.Skipf("files are not mapped here: %v", err)
	}
	at := uintptr(unsafe.Pointer(&memory[0]))
	return tensor.New(tensor.Of(tensor.Float32), tensor.WithShape(shape...),
		tensor.FromMemory(at, uintptr(len(bytes)))), path
}

// mappedGraph returns a machine for a function of x (2, n) and a weight w that is mapped.
func mappedGraph(t *testing.T, w *tensor.Dense, n int, f func(x, w *G.Node) (*G.Node, error)) *machine.Machine {
	g := G.NewGraph()
	ones := tensor.New(tensor.WithShape(2, n), tensor.WithBacking(tensor.Range(tensor.Float32, 1, 2*n+1)))
	x := G.NewMatrix(g, tensor.Float32, G.WithShape(2, n), G.WithName("x"), G.WithValue(ones))
	y, err := f(x, G.NewMatrix(g, tensor.Float32, G.WithShape(w.Shape()...), G.WithName("w"), G.WithValue(w)))
	require.NoError(t, err)
	m, err := machine.New(y)
	require.NoError(t, err)
	return m
}

func linear(x, w *G.Node) (*G.Node, error) { return graph.Linear(x, w, nil) }

// TestMappedWeightsAreFinite: a run finds NaNs and infinities where it reads the weights for the first time.
func TestMappedWeightsAreFinite(t *testing.T) {
	large := float32(math.MaxFloat32)
	for _, row := range []struct {
		name  string
		value float32
		f     func(x, w *G.Node) (*G.Node, error)
		wrong bool
	}{
		{name: "finite", value: 2, f: linear},
		{name: "NaN", value: float32(math.NaN()), f: linear, wrong: true},
		{name: "infinity", value: float32(math.Inf(-1)), f: linear, wrong: true},
		{name: "a result that overflows", value: large, f: linear},
		{name: "an op that hides it", value: float32(math.Inf(-1)), wrong: true,
			f: func(x, w *G.Node) (*G.Node, error) { return graph.ReLU(w) }},
		{name: "a part of it", value: float32(math.NaN()), wrong: true, f: func(x, w *G.Node) (*G.Node, error) {
			rows, err := graph.Rows(w, 1, 2)
			if err != nil {
				return nil, err
			}
			return graph.Linear(x, rows, nil)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			numbers := make([]float32, 4*16)
			numbers[20] = row.value
			w, _ := mappedFloats(t, numbers, 4, 16)
			m := mappedGraph(t, w, 16, row.f)
			err := m.RunAll()
			if !row.wrong {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, machine.ErrNotFinite)
			require.EqualError(t, err, "machine: parameter w: has values that are not finite")
		})
	}
}

// TestMappedFileIsCut truncates a file while its weights are in use, in a separate process: the error names the weight.
// Replacing the file by another changes nothing.
func TestMappedFileIsCut(t *testing.T) {
	if os.Getenv("CUT_MAPPED_FILE") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestMappedFileIsCut$", "-test.v")
		cmd.Env = append(os.Environ(), "CUT_MAPPED_FILE=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		if strings.Contains(string(out), "SKIP") {
			t.Skip("files are not mapped here")
		}
		return
	}
	const rows, n = 4096, 256 // shared by goroutines
	w, path := mappedFloats(t, make([]float32, rows*n), rows, n)
	m := mappedGraph(t, w, n, linear)
	require.NoError(t, m.RunAll())
	require.NoError(t, os.WriteFile(path+".new", []byte("x"), 0o600))
	require.NoError(t, os.Rename(path, path+".old"))
	require.NoError(t, os.Rename(path+".new", path))
	require.NoError(t, m.RunAll())
	require.NoError(t, os.Truncate(path+".old", rows*n*2)) // the half that a helper goroutine starts with is gone
	for range 100 {
		err := m.RunAll()
		require.ErrorIs(t, err, mapped.ErrCut)
		require.EqualError(t, err, `machine: parameter "w": the file was cut while it was in use`)
	}
	require.ErrorIs(t, mapped.Guard(func() error {
		require.NotZero(t, w.Float32s()[rows*n-1])
		return nil
	}), mapped.ErrCut)
	require.PanicsWithValue(t, "another", func() { _ = mapped.Guard(func() error { panic("another") }) })
}
