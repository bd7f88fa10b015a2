package expr_test

import (
	"testing"

	"attention/internal/expr"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func TestInputName(t *testing.T) {
	g := G.NewGraph()
	named := G.NewMatrix(g, tensor.Float32, G.WithShape(2, 3), G.WithName("a weight"))
	nameless := G.NewUniqueNode(G.In(g), G.WithType(named.Type()), G.WithShape(2, 3))
	require.Equal(t, `"a weight"`, expr.InputName(named))
	require.Equal(t, "of float32 (2, 3) without a name", expr.InputName(nameless))
	require.Equal(t, "without a name and a type", expr.InputName(new(G.Node)))
	require.True(t, expr.HasName(named))
	require.False(t, expr.HasName(nameless))
}
