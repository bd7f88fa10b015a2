package graph_test

import (
	"strings"
	"testing"

	"attention/graph/gradcases"
	"attention/graph/gradcheck"
	"attention/internal/exports"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// Every case has the gradient that differences give, in both types.
func TestGradients(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range gradcases.Cases() {
		require.False(t, seen[c.Name()], "%s: twice", c.Name())
		seen[c.Name()] = true
		for _, dt := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
			report, err := c.Check(dt, gradcheck.Config{Seed: 1})
			require.NoError(t, err, "%s (%v)", c.Name(), dt)
			require.True(t, report.OK(), "%s (%v): %v", c.Name(), dt, report)
			require.NotEmpty(t, report.Inputs, c.Name())
			for _, in := range report.Inputs {
				require.False(t, in.Unused, "%s: %s has no part in the output", c.Name(), in.Name)
			}
		}
	}
}

// Every exported function that returns a node has a case, and every case is of one.
func TestNoOpLacksAGradientCase(t *testing.T) {
	covered := map[string]bool{"CachedAttention": true, "ArgMax": true} // refuse to be differentiated
	for _, c := range gradcases.Cases() {
		covered[c.Op] = true
	}
	functions, err := exports.Funcs(".")
	require.NoError(t, err)
	exported := map[string]bool{}
	for _, f := range functions {
		if f.Receiver != "" {
			continue
		}
		exported[f.Name] = true
		if strings.Contains(strings.Join(f.Results, " "), ".Node") {
			require.True(t, covered[f.Name], "graph.%s: no gradient case, want one in graph/gradcases", f.Name)
		}
	}
	for op := range covered {
		require.True(t, exported[op], "graph/gradcases: got a case of graph.%s, which is not exported", op)
	}
	require.True(t, covered["Softmax"] && covered["Attention"])
}
