package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// torchOnly are cases of testdata/torch/ops.py that are no op of opCases: the same
// ops on other numbers.
var torchOnly = map[string]func(in G.Nodes) (*G.Node, error){
	"softmax_edges":      unary(graph.Softmax),
	"cross_entropy_huge": func(in G.Nodes) (*G.Node, error) { return graph.CrossEntropy(in[0], in[1]) },
}

// torchFused are cases that the fused attention computes too.
var torchFused = map[string]graph.AttentionConfig{
	"attention":              {},
	"attention_scale":        {Scale: 0.3},
	"attention_causal":       {Mask: mask.Causal{}},
	"attention_renormalized": {Mask: mask.Causal{}, Renormalize: true},
}

// Values and gradients of every op, as PyTorch has them.
func TestOpsEqualPyTorch(t *testing.T) {
	ops := map[string]func(in G.Nodes) (*G.Node, error){}
	for _, c := range opCases() {
		ops[c.name] = c.op
	}
	for name, op := range torchOnly {
		ops[name] = op
	}
	seen := 0
	for _, entry := range golden.Load(t, "torch/ops.safetensors").Names() {
		name, isOut := strings.CutSuffix(entry, ".out")
		if !isOut {
			continue
		}
		seen++
		require.Contains(t, ops, name)
		for _, p := range tolerances {
			t.Run(name+"/"+p.dt.String(), func(t *testing.T) {
				equalPyTorch(t, name, ops[name], p.dt, p.tol)
				if c, ok := torchFused[name]; ok {
					equalPyTorch(t, name, fusedBy(c), p.dt, p.tol)
				}
			})
		}
	}
	require.Equal(t, 33, seen)
}

func equalPyTorch(t *testing.T, name string, op func(in G.Nodes) (*G.Node, error), dt tensor.Dtype, tol float64) {
	file := golden.Load(t, "torch/ops.safetensors")
	load := func(entry string) array { return array{file.Shape(name + entry), file.Float64(name + entry)} }
	has := func(entry string) bool { return slices.Contains(file.Names(), name+entry) }
	var in []input
	var grads []array
	for i := 0; has(fmt.Sprintf(".in.%d", i)); i++ {
		entry, grad := fmt.Sprintf(".in.%d", i), fmt.Sprintf(".din.%d", i)
		var x input
		switch {
		case has(grad):
			x.array = load(entry)
			grads = append(grads, load(grad))
		case name == "dropout_mask":
			x.array, x.fixed = load(entry), true
		default:
			x.array, x.integer = array{shape: file.Shape(name + entry)}, true
			for _, v := range file.Int64(name + entry) {
				x.v = append(x.v, float64(v))
			}
		}
		in = append(in, x)
	}
	e := express(t, op, in, dt)
	e.differentiate(t, in, load(".dout"), dt)
	got := e.onOurs(t)
	near(t, name, load(".out"), got.out, tol)
	require.Len(t, got.grads, len(grads))
	for i := range grads {
		near(t, fmt.Sprintf("%s: gradient %d", name, i), grads[i], got.grads[i], tol)
	}
}
