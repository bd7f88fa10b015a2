package graph_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// function is one exported function, the names of its node arguments and good
// ones, by the shapes that bench.f and bench.ids take.
type function struct {
	name string
	args string // names, apart by spaces; a leading # is an argument of ids
	op   func(...*G.Node) (*G.Node, error)
	good [][]int
}

func functions() []function {
	m := []int{3, 3}
	return []function{
		{"Softmax", "x", one(graph.Softmax), [][]int{m}},
		{"DivideBySum", "x", one(graph.DivideBySum), [][]int{m}},
		{"CausalFill", "scores", one(graph.CausalFill), [][]int{m}},
		{"Tril", "x", one(graph.Tril), [][]int{m}},
		{"Exp", "x", one(graph.Exp), [][]int{m}},
		{"Tanh", "x", one(graph.Tanh), [][]int{m}},
		{"Scale", "x", scale(2), [][]int{m}},
		{"SplitHeads", "x", split(3), [][]int{m}},
		{"MergeHeads", "x", one(graph.MergeHeads), [][]int{{2, 3, 3}}},
		{"Observe", "x", observe, [][]int{m}},
		{"Add", "x y", two(graph.Add), [][]int{m, m}},
		{"Mul", "x y", two(graph.Mul), [][]int{m, m}},
		{"MatMul", "a b", two(graph.MatMul), [][]int{m, m}},
		{"Scores", "q k", two(graph.Scores), [][]int{m, m}},
		{"PairwiseAdd", "q k", two(graph.PairwiseAdd), [][]int{m, m}},
		{"Concat", "xs[0] xs[1]", graph.Concat, [][]int{m, m}},
		{"DropoutMask", "x keep", mask(0.5), [][]int{m, m}},
		{"Dropout", "x #key", drop(0.5), [][]int{m, {}}},
		{"Embedding", "weight #ids", two(graph.Embedding), [][]int{m, {2}}},
		{"CrossEntropy", "logits #targets", two(graph.CrossEntropy), [][]int{m, {3}}},
		{"Linear", "x weight bias", three(graph.Linear), [][]int{m, m, {3}}},
		{"Attention", "q k v", attentionBy(graph.AttentionConfig{}), [][]int{m, m, m}},
		{"FusedAttention", "q k v", three(fusedPlain), [][]int{m, m, m}},
		{"RoPE", "x #positions", ropeBy, [][]int{{3, 4}, {3}}},
		{"AddSinusoidal", "x #positions", two(graph.AddSinusoidal), [][]int{{3, 4}, {3}}},
		{"ExpandRelativeBias", "bias", expandBy(2, 2), [][]int{m}},
		{"T5RelativeBias", "table", t5By(graph.T5Config{T: 2, S: 3, Unidirectional: true}), [][]int{m}},
		{"LayerNorm", "x weight bias", three(layerNormBy), [][]int{m, {3}, {3}}},
		{"RMSNorm", "x weight", two(normBy("RMSNorm", 1e-5)), [][]int{m, {3}}},
		{"L2Norm", "x weight", two(normBy("L2Norm", 1e-5)), [][]int{m, {3}}},
		{"GELU", "x", one(graph.GELU), [][]int{m}},
		{"GELUTanh", "x", one(graph.GELUTanh), [][]int{m}},
		{"Sigmoid", "x", one(graph.Sigmoid), [][]int{m}},
		{"SiLU", "x", one(graph.SiLU), [][]int{m}},
		{"SwiGLU", "gate up", two(graph.SwiGLU), [][]int{m, m}},
		{"Softcap", "x", one(softcapBy(30)), [][]int{m}},
		{"AverageHeads", "weights", one(graph.AverageHeads), [][]int{{2, 3, 3}}},
		{"Split", "x", one(splitBy(1, 2)), [][]int{m}},
		{"Rows", "x", one(rowsBy(1, 2)), [][]int{m}},
		{"Transpose", "x", one(graph.Transpose), [][]int{m}},
		{"ReLU", "x", one(graph.ReLU), [][]int{m}},
		{"PositionRows", "weight #start", two(positionRowsBy(2)), [][]int{m, {}}},
		{"LastRow", "x", one(graph.LastRow), [][]int{m}},
		{"MaskFill", "scores", one(fillBy(graph.Prefix{N: 2})), [][]int{m}},
		{"AppendRow", "x row", two(graph.AppendRow), [][]int{m, {3}}},
		{"Detach", "x", one(timesDetached), [][]int{m}},
		{"AdditiveAttention", "q k v value", additiveBy, [][]int{m, m, {1, 3}, m}},
	}
}

// build makes the good arguments, all but the one at bad, which is given.
func (f function) build(b bench, bad int, n *G.Node) G.Nodes {
	var in G.Nodes
	for i, arg := range strings.Fields(f.args) {
		switch {
		case i == bad:
			in = append(in, n)
		case arg[0] == '#':
			in = append(in, b.ids(f.good[i]...))
		default:
			in = append(in, b.f(f.good[i]...))
		}
	}
	return in
}

// Each argument of each function: missing, of another graph, of no graph, of the
// wrong type.
func TestWrongNodesAreRefused(t *testing.T) {
	for _, f := range functions() {
		good := bench{G.NewGraph()}
		_, err := f.op(f.build(good, -1, nil)...)
		require.NoError(t, err, f.name)
		for i, arg := range strings.Fields(f.args) {
			arg, isIDs := strings.CutPrefix(arg, "#")
			b := bench{G.NewGraph()}
			says := map[*G.Node]string{
				G.NewConstant(1.0):        "got a node of no graph, want one of a graph",
				b.of(tensor.Bool, 3, 3):   "got bool, want float32 or float64",
				b.of(tensor.String, 3, 3): "got string, want float32 or float64",
				b.of(tensor.Int32, 3, 3):  "got int32, want float32 or float64",
			}
			if isIDs {
				says = map[*G.Node]string{b.f(3): "got float64, want int or int64", b.of(tensor.Int32, 3): "got int32, want int or int64"}
			} else {
				says[b.ids(3, 3)] = "got int, want float32 or float64"
			}
			if i > 0 {
				first := strings.Fields(f.args)[0]
				says[bench{G.NewGraph()}.f(3, 3)] = "got a node of another graph, want one of " + first + "'s"
				if !isIDs {
					says[b.of(tensor.Float32, 3, 3)] = "got float32, want float64 as the arguments before it"
				}
			}
			if arg != "positions" && arg != "bias" && arg != "row" { // which may be nil
				says[nil] = "got nil, want a node"
			}
			for n, want := range says {
				require.NotPanics(t, func() {
					_, err := f.op(f.build(b, i, n)...)
					require.ErrorContains(t, err, ": "+arg+": "+want, "%s of %v", f.name, n)
					require.ErrorContains(t, err, "graph: ")
				})
			}
		}
	}
}

// zoo makes nodes of all kinds; what it makes of one number is always the same.
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

// tuples calls f with kinds of nodes for n arguments: all singles and pairs, and a
// draw of the longer ones in which every second node is zooSize, a good one.
func tuples(n int, f func(kinds []int)) {
	if n <= 2 {
		for c := range zooSize * zooSize {
			f([]int{c % zooSize, c / zooSize}[:n])
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

// Whatever nodes a function is called with, it returns an error in the words that
// all errors have, or a node; and what it accepts can be run and differentiated.
func TestNoCombinationOfNodesPanics(t *testing.T) {
	for _, f := range functions() {
		accepted := 0
		tuples(len(f.good), func(kinds []int) {
			b, other := bench{G.NewGraph()}, bench{G.NewGraph()}
			in := f.build(b, -1, nil)
			for i, kind := range kinds {
				if kind < zooSize {
					in[i] = zoo(b, other, kind)
				}
			}
			require.NotPanics(t, func() {
				out, err := f.op(in...)
				if err != nil {
					require.Nil(t, out, "%s of %v", f.name, kinds)
					require.Regexp(t, wellSaid, err.Error())
					return
				}
				accepted++
				runs(t, fmt.Sprintf("%s of %v", f.name, in), f, in, out)
			}, "%s of %v", f.name, kinds)
		})
		require.NotZero(t, accepted, f.name)
	}
}

// runs binds values and computes the node and its gradients.
func runs(t *testing.T, what string, f function, in G.Nodes, out *G.Node) {
	t.Helper()
	var wrt G.Nodes
	args := strings.Fields(f.args)
	for i, n := range in {
		if n == nil { // no bias
			continue
		}
		a := zeros(n.Shape()...)
		if isFloat := args[i][0] != '#'; isFloat {
			a = normal(rand.New(rand.NewPCG(1, 2)), n.Shape()...)
			if args[i] != "keep" && !slices.Contains(wrt, n) {
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
