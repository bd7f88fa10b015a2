package graph_test

import (
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// BenchmarkAgainstGorgonia times the forward pass and the gradients of ops at the end of models, in float32 on
// (2, 1024, 768), and the same formulas of Gorgonia's own ops on Gorgonia's machine.
//
//	go test ./graph -run '^$' -bench 'AgainstGorgonia/MSE'
func BenchmarkAgainstGorgonia(b *testing.B) {
	long, last := s{2, 1024, 768}, graph.ReduceConfig{Dim: []int{-1}}
	logits := func(r *rand.Rand) []input { return append(shapes(s{2048, 768})(r), rowIDs(2048, 768)) }
	for _, c := range []struct {
		name  string
		in    func(r *rand.Rand) []input
		ours  func(in G.Nodes) (*G.Node, error)
		stock func(in G.Nodes) (*G.Node, error) // nil where Gorgonia has no equivalent
	}{
		{name: "Sum", in: shapes(long), ours: unary(sumBy(graph.ReduceConfig{})),
			stock: func(in G.Nodes) (*G.Node, error) { return G.Sum(in[0]) }},
		{name: "Mean, last axis", in: shapes(long),
			ours:  unary(func(x *G.Node) (*G.Node, error) { return graph.Mean(x, last) }),
			stock: func(in G.Nodes) (*G.Node, error) { return G.Mean(in[0], 2) }},
		{name: "Sum, first axes", in: shapes(long), ours: unary(sumBy(graph.ReduceConfig{Dim: []int{0, 1}})),
			stock: func(in G.Nodes) (*G.Node, error) { return G.Sum(in[0], 0, 1) }},
		{name: "Max, last axis", in: shapes(long),
			ours:  unary(func(x *G.Node) (*G.Node, error) { return graph.Max(x, last) }),
			stock: func(in G.Nodes) (*G.Node, error) { return G.Max(in[0], 2) }},
		{name: "TopK, 8", in: shapes(long), ours: unary(topKBy(8))},
		{name: "MSE", in: shapes(long, long), ours: lossBy(0),
			stock: func(in G.Nodes) (*G.Node, error) { return G.Mean(G.Must(G.Square(G.Must(G.Sub(in[0], in[1]))))) }},
		{name: "L1", in: shapes(long, long), ours: lossBy(1),
			stock: func(in G.Nodes) (*G.Node, error) { return G.Mean(G.Must(G.Abs(G.Must(G.Sub(in[0], in[1]))))) }},
		{name: "Huber", in: shapes(long, long), ours: lossBy(2)},
		{name: "BCEWithLogits", in: shapes(long, long), ours: lossBy(4),
			stock: func(in G.Nodes) (*G.Node, error) { // softplus(x) − x⊙y
				return G.Mean(G.Must(G.Sub(G.Must(G.Softplus(in[0])), G.Must(G.HadamardProd(in[0], in[1])))))
			}},
		{name: "KLDiv", in: shapes(long, long), ours: lossBy(6)},
		{name: "CrossEntropy", in: logits, ours: crossEntropyBy(graph.CrossEntropyConfig{})},
		{name: "CrossEntropy, smoothed", in: logits, ours: crossEntropyBy(graph.CrossEntropyConfig{LabelSmoothing: 0.1})},
		{name: "LogSoftmax", in: shapes(s{2048, 768}), ours: unary(graph.LogSoftmax),
			stock: func(in G.Nodes) (*G.Node, error) { return G.LogSoftMax(in[0]) }},
		{name: "Mul", in: shapes(long, long), ours: mul,
			stock: func(in G.Nodes) (*G.Node, error) { return G.HadamardProd(in[0], in[1]) }},
		{name: "Mul, columns", in: shapes(s{2048, 768}, s{2048, 1}), ours: mul,
			stock: func(in G.Nodes) (*G.Node, error) { return G.BroadcastHadamardProd(in[0], in[1], nil, []byte{1}) }},
		{name: "Div, a row", in: shapes(s{2048, 768}, s{1, 768}),
			ours:  func(in G.Nodes) (*G.Node, error) { return graph.Div(in[0], in[1]) },
			stock: func(in G.Nodes) (*G.Node, error) { return G.BroadcastHadamardDiv(in[0], in[1], nil, []byte{0}) }},
		{name: "Where", in: conditioned(make([]float64, 2048*768), s{2048, 768}, s{2048, 768}, s{2048, 768}), ours: where},
		{name: "Clamp", in: shapes(long), ours: unary(clampTo(-1, 1))},
	} {
		b.Run(c.name+"/ours", func(b *testing.B) { benchmarkLoss(b, c.ours, c.in, false) })
		if c.stock != nil {
			b.Run(c.name+"/stock", func(b *testing.B) { benchmarkLoss(b, c.stock, c.in, true) })
		}
	}
}

// lossBy returns the mean of one of lossOps.
func lossBy(i int) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) { return lossOps()[i].op(in[0], in[1], graph.MeanReduction) }
}

func rowIDs(rows, cols int) input {
	v := make([]float64, rows)
	for i := range v {
		v[i] = float64(i * 7919 % cols)
	}
	return ids(v, rows)
}

// benchmarkLoss runs an op and the gradient of its first input.
func benchmarkLoss(b *testing.B, op func(in G.Nodes) (*G.Node, error), make func(r *rand.Rand) []input, stock bool) {
	r := rand.New(rand.NewPCG(1, 2))
	in := make(r)
	for i := range in {
		in[i].fixed = in[i].fixed || i > 0 && !in[0].integer
	}
	e := express(b, op, in, tensor.Float32)
	e.differentiate(b, in, normal(r, e.out.Shape()...), tensor.Float32)
	var m G.VM
	if stock {
		m = G.NewTapeMachine(e.g.SubgraphRoots(append(e.grads, e.out)...))
	} else {
		ours, err := machine.New(append(e.grads, e.out)...)
		require.NoError(b, err)
		m = ours
	}
	defer m.Close()
	require.NoError(b, m.RunAll())
	b.ReportAllocs()
	for b.Loop() {
		m.Reset()
		if err := m.RunAll(); err != nil {
			b.Fatal(err)
		}
	}
}
