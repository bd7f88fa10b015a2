package stock_test

import (
	"slices"
	"testing"

	"attention/internal/stock"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func TestNames(t *testing.T) {
	names := stock.Names()
	require.True(t, slices.IsSorted(names))
	require.Equal(t, names, slices.Compact(slices.Clone(names)))
	x := G.NewMatrix(G.NewGraph(), tensor.Float64, G.WithShape(2, 3), G.WithName("x"))
	known := G.Nodes{G.Must(G.Tanh(x)), G.Must(G.Lt(x, x, true)), G.Must(G.Sum(x))}
	for _, n := range known {
		require.Contains(t, names, stock.Name(n.Op()))
	}
	require.NotContains(t, names, stock.Name(G.Must(G.Dropout(x, 0.5)).Op()))
}
