package graph_test

import (
	"strings"
	"testing"

	"attention/graph/gradcases"
	"attention/internal/exports"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
)

// The gradient of every case equals the difference quotients, in both types.
func TestGradients(t *testing.T) {
	if testenv.Race { // the same ops run in other tests
		t.Skip("a difference for each element takes minutes under the race detector")
	}
	require.NoError(t, gradcases.CheckAll(gradcases.Cases()))
}

// Every exported function that returns a node has a case, and every case belongs to such a function.
func TestNoOpLacksAGradientCase(t *testing.T) {
	covered := map[string]bool{"CachedLinearAttention": true, "CachedCausalConv": true,
		"ArgMax": true} // they return an error when differentiated, or have no input that is trained
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
		if results := strings.Join(f.Results, " "); strings.Contains(results, ".Node") || strings.Contains(results, "Result") {
			require.True(t, covered[f.Name], "graph.%s: no gradient case, want one in graph/gradcases", f.Name)
		}
	}
	for op := range covered {
		require.True(t, exported[op], "graph/gradcases: got a case of graph.%s, which is not exported", op)
	}
	require.True(t, covered["Softmax"] && covered["Attention"])
}
