package diagram

import (
	"bytes"
	"image/png"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// small is the graph of softmax(x·w)·x + x·w, and its learnable w.
func small(t *testing.T) (out, w *G.Node) {
	t.Helper()
	g := G.NewGraph()
	x := G.NewMatrix(g, tensor.Float32, G.WithShape(3, 3), G.WithName("x"))
	w = G.NewMatrix(g, tensor.Float32, G.WithShape(3, 3), G.WithName("w"))
	of := func(n *G.Node, err error) *G.Node { require.NoError(t, err); return n }
	y := of(graph.MatMul(x, w))
	return of(graph.Add(of(graph.MatMul(of(graph.Softmax(y)), x)), y)), w
}

// TestOf: every node behind the result is there once, after its inputs.
func TestOf(t *testing.T) {
	out, w := small(t)
	require.Equal(t, Diagram{title: "a graph", nodes: []node{
		{label: "x", shape: "(3, 3)", kind: input},
		{label: "w", shape: "(3, 3)", kind: learnt},
		{label: "MatMul", shape: "(3, 3)", kind: op, in: []int{0, 1}},
		{label: "Softmax", shape: "(3, 3)", kind: op, in: []int{2}},
		{label: "MatMul", shape: "(3, 3)", kind: op, in: []int{3, 0}},
		{label: "Add", shape: "(3, 3)", kind: op, in: []int{4, 2}},
	}}, Of("a graph", out, G.Nodes{w}))
}

// TestOfASquare: a node that is used twice in one op has one line to it.
func TestOfASquare(t *testing.T) {
	x := G.NewMatrix(G.NewGraph(), tensor.Float32, G.WithShape(2, 2), G.WithName("x"))
	y, err := graph.Mul(x, x)
	require.NoError(t, err)
	require.Equal(t, []int{0}, Of("", y, nil).nodes[1].in)
}

// TestWrite: the picture has the colours of what is learnt, given and computed.
func TestWrite(t *testing.T) {
	out, w := small(t)
	var written bytes.Buffer
	require.NoError(t, Of("a graph", out, G.Nodes{w}).Write(&written))
	picture, err := png.Decode(&written)
	require.NoError(t, err)
	counts := map[kind]int{}
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			for k, of := range legend {
				r, g, b, _ := of.fill.RGBA()
				if gotR, gotG, gotB, _ := picture.At(x, y).RGBA(); r == gotR && g == gotG && b == gotB {
					counts[kind(k)]++
				}
			}
		}
	}
	require.Greater(t, counts[learnt], 500, "one box")
	require.Greater(t, counts[input], 500, "one box")
	require.Greater(t, counts[op], 3*counts[input], "four boxes")
}
