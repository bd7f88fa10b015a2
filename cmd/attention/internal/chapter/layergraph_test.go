package chapter

import (
	"fmt"
	"strings"
	"testing"

	"attention/graph"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// TestLayerGraphs: the drawn graph of a layer has the steps of attention, not the op that computes them together.
func TestLayerGraphs(t *testing.T) {
	for _, s := range chapter.Sections() {
		c := s.Layer()
		if c.Layer == "" || c.Layer == "additive" { // which has no other form
			continue
		}
		b, _, err := s.Graph()
		require.NoError(t, err)
		var nodes strings.Builder
		for _, n := range b.Graph().AllNodes() {
			fmt.Fprintln(&nodes, n.Name(), n.Op())
		}
		require.Contains(t, nodes.String(), "Softmax", c.Layer)
		require.NotContains(t, nodes.String(), "FusedAttention", c.Layer)
		for _, parameter := range []string{"W_query", "W_key", "W_value"} {
			require.Equal(t, c.Layer != "simple", strings.Contains(nodes.String(), parameter), c.Layer)
		}
	}
}

// Every node before the result occurs once, after its inputs, with one arrow from an input that it uses twice.
func TestMermaid(t *testing.T) {
	g := G.NewGraph()
	x := G.NewMatrix(g, tensor.Float32, G.WithShape(2, 2), G.WithName(`x"`))
	w := G.NewMatrix(g, tensor.Float32, G.WithShape(2, 2), G.WithName("w"))
	of := func(n *G.Node, err error) *G.Node { require.NoError(t, err); return n }
	y := of(graph.MatMul(x, w))
	require.Equal(t, `---
title: "a graph"
---
flowchart TD
    n0["x#quot;<br>(2, 2)"]:::input
    n1["w<br>(2, 2)"]:::learnt
    n2["MatMul<br>(2, 2)"]:::op
    n0 & n1 --> n2
    n3["Mul<br>(2, 2)"]:::op
    n2 --> n3
    n4["Add<br>(2, 2)"]:::op
    n3 & n0 --> n4
    classDef learnt fill:#fdc67d,stroke:#707070,color:#000
    classDef input fill:#d3ecd0,stroke:#707070,color:#000
    classDef op fill:#e3eef9,stroke:#707070,color:#000
`, mermaid("a graph", of(graph.Add(of(graph.Mul(y, y)), x)), G.Nodes{w}))
}
