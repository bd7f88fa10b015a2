package apply

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/term"
	"attention/internal/safetensors"

	"github.com/stretchr/testify/require"
)

const oldOutput = "what was here before"

// wrongCall is a call of attention apply in a folder of its own, for a test to break.
type wrongCall struct {
	t   *testing.T
	dir string
	files
	flags []string
}

// newWrongCall has the files of the case causal_batch: d_in 5, d_out 6, B 2, T 7.
func newWrongCall(t *testing.T) *wrongCall { return newWrongCallOf(t, "causal_batch") }

// newWrongCallOf has the files of a case.
func newWrongCallOf(t *testing.T, name string) *wrongCall {
	from, c := caseFiles(t, name), &wrongCall{t: t, dir: t.TempDir()}
	copied := func(path, name string) string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return c.file(name, string(text))
	}
	c.files = files{
		config:  copied(from.config, "layer.json"),
		weights: copied(from.weights, "w.safetensors"),
		input:   copied(from.input, "in.safetensors"),
		output:  c.file("out.safetensors", oldOutput),
	}
	return c
}

// file writes a file into the folder.
func (c *wrongCall) file(name, text string) string {
	path := filepath.Join(c.dir, name)
	require.NoError(c.t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// text replaces layer.json.
func (c *wrongCall) text(text string) { c.file("layer.json", text) }

// tensor replaces or, with nil, removes a tensor of a file, or adds it.
func (c *wrongCall) tensor(path, name string, shape []int, data any) {
	file, err := safetensors.ReadFile(path)
	require.NoError(c.t, err)
	file.Tensors = slices.DeleteFunc(file.Tensors, func(t safetensors.Tensor) bool { return t.Name == name })
	if data != nil {
		file.Tensors = append(file.Tensors, safetensors.Tensor{Name: name, Shape: shape, Data: data})
	}
	require.NoError(c.t, safetensors.WriteFile(path, file))
}

// additive turns the call into one of the layer additive.
func (c *wrongCall) additive(query, key []int) {
	c.text(`{"layer": "additive", "d_query": 2, "d_key": 3, "d_attn": 1}`)
	write := func(path string, shapes map[string][]int) {
		file := new(safetensors.File)
		for _, name := range []string{"W_query.weight", "W_key.weight", "v.weight", "query", "key"} {
			if shape, ok := shapes[name]; ok {
				n := 1
				for _, d := range shape {
					n *= d
				}
				file.Tensors = append(file.Tensors, safetensors.Tensor{Name: name, Shape: shape, Data: make([]float32, n)})
			}
		}
		require.NoError(c.t, safetensors.WriteFile(path, file))
	}
	write(c.weights, map[string][]int{"W_query.weight": {1, 2}, "W_key.weight": {1, 3}, "v.weight": {1, 1}})
	write(c.input, map[string][]int{"query": query, "key": key})
}

// message runs the call and returns its error, as main prints it, with the folder's
// name cut out. The old output and nothing else must be there.
func (c *wrongCall) message() string {
	before, err := os.ReadDir(c.dir)
	require.NoError(c.t, err)
	printed, err := c.run(c.t, c.flags...)
	require.Error(c.t, err)
	require.Empty(c.t, printed)
	require.NotContains(c.t, err.Error(), "\n")
	require.NotContains(c.t, err.Error(), "panic")
	after, errDir := os.ReadDir(c.dir)
	require.NoError(c.t, errDir)
	require.Len(c.t, after, len(before))
	text, errOld := os.ReadFile(filepath.Join(c.dir, "out.safetensors"))
	require.NoError(c.t, errOld)
	require.Equal(c.t, oldOutput, string(text))
	return strings.ReplaceAll(term.OneLine(err), c.dir+string(filepath.Separator), "")
}

// TestApplyWrongTensors: an error about a tensor names the file and the tensor, what
// it got and what it wants.
func TestApplyWrongTensors(t *testing.T) {
	const causal = "W_query.weight, W_query.bias, W_key.weight, W_key.bias, W_value.weight, W_value.bias and optionally mask for layer causal"
	const x = "want (T <= 11, 5) or (B, T <= 11, 5) with every axis at least 1"
	zeros := func(n int) []float32 { return make([]float32, n) }
	for want, spoil := range map[string]func(*wrongCall){
		`w.safetensors: tensors missing: "W_key.weight"; want ` + causal: func(c *wrongCall) { c.tensor(c.weights, "W_key.weight", nil, nil) },
		`w.safetensors: tensors missing: "W_key.weight", "W_value.bias"; tensors unknown: "W_k.weight", "\n"; want ` + causal: func(c *wrongCall) {
			c.tensor(c.weights, "W_key.weight", nil, nil)
			c.tensor(c.weights, "W_value.bias", nil, nil)
			c.tensor(c.weights, "W_k.weight", []int{0}, zeros(0))
			c.tensor(c.weights, "\n", []int{0}, zeros(0))
		},
		`w.safetensors: tensors unknown: "heads.0.mask"; want ` + causal: func(c *wrongCall) { c.tensor(c.weights, "heads.0.mask", []int{1}, zeros(1)) },
		`w.safetensors: tensors unknown: "mask"; want W_query.weight, W_query.bias, W_key.weight, W_key.bias, W_value.weight, W_value.bias for layer self_v2`: func(c *wrongCall) {
			c.text(`{"layer": "self_v2", "d_in": 5, "d_out": 6, "qkv_bias": true}`)
		},
		`w.safetensors: tensors unknown: "W_query.weight", "W_query.bias", "W_key.weight", "W_key.bias", "W_value.weight", "W_value.bias", "mask"; want none for layer simple`: func(c *wrongCall) {
			c.text(`{"layer": "simple"}`)
			file, err := safetensors.ReadFile(c.weights)
			require.NoError(c.t, err)
			byName := map[string]safetensors.Tensor{}
			for _, t := range file.Tensors {
				byName[t.Name] = t
			}
			file.Tensors = nil
			for _, name := range []string{"W_query.weight", "W_query.bias", "W_key.weight", "W_key.bias", "W_value.weight",
				"W_value.bias", "mask"} {
				file.Tensors = append(file.Tensors, byName[name])
			}
			require.NoError(c.t, safetensors.WriteFile(c.weights, file))
		},
		`w.safetensors: tensor "W_key.weight": shape (5, 6), want (6, 5)`: func(c *wrongCall) { c.tensor(c.weights, "W_key.weight", []int{5, 6}, zeros(30)) },
		`w.safetensors: tensor "W_value.bias": shape (6, 1), want (6)`:    func(c *wrongCall) { c.tensor(c.weights, "W_value.bias", []int{6, 1}, zeros(6)) },
		`w.safetensors: tensor "W_value.bias": shape (), want (6)`:        func(c *wrongCall) { c.tensor(c.weights, "W_value.bias", nil, zeros(1)) },
		`layer.json: W_query.weight: shape (2147483647, 2147483647), want at most 2147483647 elements`: func(c *wrongCall) {
			c.text(`{"layer": "causal", "d_in": 2147483647, "d_out": 2147483647, "qkv_bias": true}`)
		},
		`w.safetensors: tensor "W_query.weight": dtype I64, want F64, F32, F16 or BF16`: func(c *wrongCall) {
			c.tensor(c.weights, "W_query.weight", []int{6, 5}, make([]int64, 30))
		},
		`in.safetensors: tensors missing: "x"; tensors unknown: "X"; want x and optionally grad_output for layer causal`: func(c *wrongCall) {
			c.tensor(c.input, "x", nil, nil)
			c.tensor(c.input, "X", []int{7, 5}, zeros(35))
		},
		`in.safetensors: tensor "x": shape (2, 7, 4), ` + x:    func(c *wrongCall) { c.tensor(c.input, "x", []int{2, 7, 4}, zeros(56)) },
		`in.safetensors: tensor "x": shape (2, 12, 5), ` + x:   func(c *wrongCall) { c.tensor(c.input, "x", []int{2, 12, 5}, zeros(120)) },
		`in.safetensors: tensor "x": shape (5), ` + x:          func(c *wrongCall) { c.tensor(c.input, "x", []int{5}, zeros(5)) },
		`in.safetensors: tensor "x": shape (), ` + x:           func(c *wrongCall) { c.tensor(c.input, "x", nil, zeros(1)) },
		`in.safetensors: tensor "x": shape (1, 1, 7, 5), ` + x: func(c *wrongCall) { c.tensor(c.input, "x", []int{1, 1, 7, 5}, zeros(35)) },
		`in.safetensors: tensor "x": shape (0, 7, 5), ` + x:    func(c *wrongCall) { c.tensor(c.input, "x", []int{0, 7, 5}, zeros(0)) },
		`in.safetensors: tensor "x": shape (2, 0, 5), ` + x:    func(c *wrongCall) { c.tensor(c.input, "x", []int{2, 0, 5}, zeros(0)) },
		`in.safetensors: tensor "x": dtype BOOL, want F64, F32, F16 or BF16`: func(c *wrongCall) {
			c.tensor(c.input, "x", []int{2, 7, 5}, make([]bool, 70))
		},
		`in.safetensors: tensor "x": shape (7, 4), want (T, 5) or (B, T, 5) with every axis at least 1`: func(c *wrongCall) {
			c.text(`{"layer": "simple", "d_in": 5}`)
			c.weights = ""
			c.tensor(c.input, "x", []int{7, 4}, zeros(28))
		},
		`in.safetensors: tensor "x": shape (7), want (T, d_in) or (B, T, d_in) with every axis at least 1`: func(c *wrongCall) {
			c.text(`{"layer": "simple"}`)
			c.weights = ""
			c.tensor(c.input, "x", []int{7}, zeros(7))
		},
		`in.safetensors: tensor "grad_output": shape (2, 7, 5), want (2, 7, 6) as the output`: func(c *wrongCall) {
			c.tensor(c.input, "grad_output", []int{2, 7, 5}, zeros(70))
		},
		`in.safetensors: tensor "grad_output": shape (), want (2, 7, 6) as the output`: func(c *wrongCall) { c.tensor(c.input, "grad_output", nil, zeros(1)) },
		`in.safetensors: tensor "grad_output": dtype U8, want F64, F32, F16 or BF16`: func(c *wrongCall) {
			c.tensor(c.input, "grad_output", []int{2, 7, 6}, make([]uint8, 84))
		},
		`in.safetensors: tensor "query": shape (2, 4, 3), want (T, 2) or (B, T, 2) with every axis at least 1`:         func(c *wrongCall) { c.additive([]int{2, 4, 3}, []int{2, 7, 3}) },
		`in.safetensors: tensor "key": shape (2, 7, 2), want (S, 3) or (B, S, 3) with every axis at least 1`:           func(c *wrongCall) { c.additive([]int{2, 4, 2}, []int{2, 7, 2}) },
		`in.safetensors: tensor "key": shape (5, 7, 3), want as many axes and the same B as query, which is (2, 4, 2)`: func(c *wrongCall) { c.additive([]int{2, 4, 2}, []int{5, 7, 3}) },
		`in.safetensors: tensor "key": shape (7, 3), want as many axes and the same B as query, which is (2, 4, 2)`:    func(c *wrongCall) { c.additive([]int{2, 4, 2}, []int{7, 3}) },
		`in.safetensors: tensors unknown: "x"; want query, key and optionally grad_output for layer additive`: func(c *wrongCall) {
			c.additive([]int{4, 2}, []int{7, 3})
			c.tensor(c.input, "x", []int{7, 3}, zeros(21))
		},
		`layer simple: a tensor of the computation has shape (1, 40000, 40000), want at most 1073741824 elements in each`: func(c *wrongCall) {
			c.text(`{"layer": "simple"}`)
			c.weights = ""
			c.tensor(c.input, "grad_output", nil, nil)
			c.tensor(c.input, "x", []int{40000, 1}, zeros(40000))
		},
	} {
		c := newWrongCall(t)
		spoil(c)
		require.Equal(t, "apply: "+want, c.message())
	}
}
