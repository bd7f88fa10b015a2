package graph_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"attention/graph/gradcases"
	"attention/graph/machine"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// zoo makes nodes of all kinds; the same number always gives the same node.
func zoo(b, other bench, kind int) *G.Node {
	floatShapes := [][]int{{}, {1}, {3}, {2, 3}, {3, 3}, {3, 2}, {1, 3}, {1, 1}, {2, 3, 3}, {2, 2, 3, 3}}
	bad := []*G.Node{nil, b.of(tensor.Float32, 2, 3), b.of(tensor.Float32, 3), b.of(tensor.Bool, 2, 3), other.f(2, 3),
		b.ids(), b.ids(2), b.ids(2, 3), b.of(tensor.Int64, 1), b.f(0, 3),
		G.NewConstant(1.0), G.NewMatrix(b.g, tensor.Float64, G.WithName("bare"))}
	if kind < len(bad) {
		return bad[kind]
	}
	return b.f(floatShapes[kind-len(bad)]...)
}

const zooSize = 12 + 10

// tuples calls f with kinds of nodes for n arguments; the kind zooSize is a valid node. It tries all single kinds and
// all pairs, and random longer tuples in which every second node is valid.
func tuples(n int, f func(kinds []int)) {
	const kinds = zooSize + 1
	switch n {
	case 1:
		for c := range kinds {
			f([]int{c})
		}
		return
	case 2:
		for c := range kinds * kinds {
			f([]int{c % kinds, c / kinds})
		}
		return
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		kinds := make([]int, n)
		for i := range kinds {
			kinds[i] = min(r.IntN(2*zooSize), zooSize)
		}
		f(kinds)
	}
}

var wellSaid = regexp.MustCompile(`^graph: [A-Z]\w+: [\w\[\]]+: (got|shape) .+, want .+$`)

// For any nodes, a function returns an error in the format that all errors have, or a node; a graph that it accepts can
// be run and differentiated.
func TestNoCombinationOfNodesPanics(t *testing.T) {
	if testenv.Race {
		t.Skip("one goroutine builds and computes the graphs, which are small")
	}
	for _, f := range functions() {
		accepted := 0
		tuples(len(f.Inputs), func(kinds []int) {
			b, other := bench{G.NewGraph()}, bench{G.NewGraph()}
			in := nodesOf(f, b, -1, nil)
			for i, kind := range kinds {
				if kind < zooSize {
					in[i] = zoo(b, other, kind)
				}
			}
			require.NotPanics(t, func() {
				out, err := f.Apply(in)
				if err != nil {
					require.Nil(t, out, "%s of %v", f.Op, kinds)
					require.Regexp(t, wellSaid, err.Error())
					return
				}
				accepted++
				runs(t, fmt.Sprintf("%s of %v", f.Op, in), f, in, out)
			}, "%s of %v", f.Op, kinds)
		})
		require.NotZero(t, accepted, f.Op)
	}
}

// runs binds values and computes the node and its gradients.
func runs(t *testing.T, what string, f gradcases.Case, in G.Nodes, out *G.Node) {
	t.Helper()
	var wrt G.Nodes
	for i, n := range in {
		if n == nil { // no bias
			continue
		}
		a := zeros(n.Shape()...)
		if f.Inputs[i].IDs == nil {
			a = normal(rand.New(rand.NewPCG(1, 2)), n.Shape()...)
			if f.Inputs[i].Floats == nil && !slices.Contains(wrt, n) {
				wrt = append(wrt, n)
			}
		}
		require.NoError(t, G.Let(n, a.value(n.Dtype())), what)
	}
	dout := node(out.Graph(), "dout", zeros(out.Shape()...), out.Dtype())
	grads, err := G.Backpropagate(G.Nodes{out}, G.Nodes{dout}, wrt)
	require.NoError(t, err, what)
	m, err := machine.New(append(grads, out)...)
	require.NoError(t, err, what)
	require.NoError(t, m.RunAll(), what)
	require.True(t, slices.Equal(out.Shape(), out.Value().Shape()), what)
	for i, g := range grads {
		require.True(t, slices.Equal(wrt[i].Shape(), g.Value().Shape()), "%s: gradient %d: %v", what, i, g.Value().Shape())
	}
}

// functions returns one case of each function, on all its nodes.
func functions() []gradcases.Case {
	functions := []gradcases.Case{{Op: "Detach", Inputs: []gradcases.Input{gradcases.Float("x", 3, 3)},
		Apply: func(in G.Nodes) (*G.Node, error) { return timesDetached(in[0]) }}}
	seen := map[string]bool{"ALiBi": true, "Detach": true} // ALiBi has no node, and the case of Detach two
	for _, c := range gradcases.Cases() {
		if !seen[c.Op] {
			seen[c.Op] = true
			functions = append(functions, c)
		}
	}
	return functions
}

// nodesOf makes valid arguments, except the one at bad, which is given.
func nodesOf(c gradcases.Case, b bench, bad int, n *G.Node) G.Nodes {
	var in G.Nodes
	for i, arg := range c.Inputs {
		switch {
		case i == bad:
			in = append(in, n)
		case arg.IDs != nil:
			in = append(in, b.ids(arg.Shape...))
		default:
			in = append(in, b.f(arg.Shape...))
		}
	}
	return in
}

// Each argument of each function: missing, of another graph, of no graph, of the
// wrong type.
func TestWrongNodesAreRefused(t *testing.T) {
	mayBeNil := []string{"positions", "bias", "row", "h0"}
	for _, f := range functions() {
		good := bench{G.NewGraph()}
		_, err := f.Apply(nodesOf(f, good, -1, nil))
		require.NoError(t, err, f.Op)
		for i, arg := range f.Inputs {
			b, isIDs, isFloat := bench{G.NewGraph()}, arg.IDs != nil, arg.IDs == nil && arg.Name != "condition"
			for _, c := range []struct {
				node    *G.Node
				want    string
				refused bool
			}{
				{node: nil, want: "got nil, want a node", refused: !slices.Contains(mayBeNil, arg.Name)},
				{node: G.NewConstant(1.0), want: "got a node of no graph, want one of a graph; b.Graph().Constant(v) is one",
					refused: !isIDs},
				{node: bench{G.NewGraph()}.f(3, 3), want: "got a node of another graph, want one of " + f.Inputs[0].Name + "'s",
					refused: i > 0},
				{node: b.of(tensor.Bool, 3, 3), want: "got bool, want float32 or float64", refused: isFloat},
				{node: b.of(tensor.String, 3, 3), want: "got string, want float32 or float64", refused: isFloat},
				{node: b.of(tensor.Int32, 3, 3), want: "got int32, want float32 or float64", refused: isFloat},
				{node: b.ids(3, 3), want: "got int, want float32 or float64", refused: isFloat},
				{node: b.of(tensor.Float32, 3, 3), want: "got float32, want float64 as the arguments before it",
					refused: i > 0 && isFloat && f.Inputs[0].Name != "condition"},
				{node: b.f(3), want: "got float64, want int or int64", refused: isIDs},
				{node: b.of(tensor.Int32, 3), want: "got int32, want int or int64", refused: isIDs},
			} {
				if !c.refused {
					continue
				}
				require.NotPanics(t, func() {
					_, err := f.Apply(nodesOf(f, b, i, c.node))
					require.ErrorContains(t, err, ": "+arg.Name+": "+c.want, "%s of %v", f.Op, c.node)
					require.ErrorContains(t, err, "graph: ")
				}, "%s of %v", f.Op, c.node)
			}
		}
	}
}
