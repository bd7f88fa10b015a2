package record_test

import (
	"fmt"
	"testing"

	"attention/layers"
	"attention/train/record"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func TestQueryParts(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	add := func(name string, shape ...int) {
		must(p.Scope("").Param(name, layers.Constant(0), shape...))
	}
	add("bias", 3)
	require.Empty(t, record.QueryParts(p, "query", record.Matrix{}), "no matrix")
	add("tokens", 3, 3)
	add("output", 3, 3)
	require.Equal(t, []record.Matrix{{Param: "tokens"}}, record.QueryParts(p, "query", record.Matrix{Columns: 2}),
		"the first matrix of a model without queries")
	for i := range 7 {
		add(fmt.Sprintf("h.%d.query", i), 3, 3)
		add(fmt.Sprintf("h.%d.query.bias", i), 3)
	}
	var names []string
	for _, m := range record.QueryParts(p, "query", record.Matrix{Columns: 2}) {
		require.Equal(t, 2, m.Columns)
		names = append(names, m.Param)
	}
	require.Equal(t, []string{"h.0.query", "h.2.query", "h.4.query", "h.6.query"}, names)
	require.Empty(t, record.QueryParts(nil, "query", record.Matrix{}))
}

func TestNewProbe(t *testing.T) {
	weights := map[string]*G.Node{"a": nil, "b": nil}
	p := record.NewProbe(weights, func(name string) string { return "of " + name })
	require.Equal(t, weights, p.Tensors)
	require.Equal(t, map[string]string{"a": "of a", "b": "of b"}, p.Notes)
}
