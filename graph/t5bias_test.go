package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"attention/graph"
	"attention/internal/golden"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

// T5's buckets of all distances equal PyTorch's, which are computed in float32: float64 gives other buckets at
// (48, 81).
func TestT5BucketsEqualPyTorch(t *testing.T) {
	file := golden.Load(t, "torch/positions.safetensors")
	seen := 0
	for _, name := range file.Names() {
		var direction string
		var buckets, longest int
		if n, _ := fmt.Sscanf(strings.ReplaceAll(name, ".", " "), "buckets %s %d %d", &direction, &buckets,
			&longest); n != 3 {
			continue
		}
		seen++
		numbers := zeros(buckets, 1)
		for b := range numbers.v {
			numbers.v[b] = float64(b)
		}
		c := graph.T5Config{T: 1, S: 4001, Offset: 2000, MaxDistance: longest, Unidirectional: direction == "one"}
		got := compute(t, t5(c), numbers)
		for i, want := range file.Int64(name) {
			require.Equal(t, float64(want), got.v[i], "%s: key at %d", name, i-2000)
		}
	}
	require.Equal(t, 20, seen)
}

func t5By(c graph.T5Config) func(...*G.Node) (*G.Node, error) {
	return one(func(table *G.Node) (*G.Node, error) { return graph.T5RelativeBias(table, c) })
}
