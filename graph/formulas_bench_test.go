package graph_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/expr"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// BenchmarkFormulas compares ops that are formulas of other ops with these formulas, forward and backward in turns: how
// many times as long the formula takes, and how many times as much memory its machine holds.
//
//	go test ./graph -run '^$' -bench Formulas
func BenchmarkFormulas(b *testing.B) {
	last := graph.ReduceConfig{Dim: []int{-1}, KeepDim: true}
	tokens := s{2, 1024, 768}
	for _, c := range []struct {
		name        string
		in          func(r *rand.Rand) []input
		op, formula func(in G.Nodes) (*G.Node, error)
	}{
		{name: "Softmax", in: shapes(s{2, 4, 512, 512}), op: unary(graph.Softmax), formula: func(in G.Nodes) (*G.Node, error) {
			var f expr.Formula
			e := f.Of(graph.Exp(f.Of(graph.Sub(in[0], f.Of(graph.Detach(f.Of(graph.Max(in[0], last))))))))
			return f.Result(f.Of(graph.Div(e, f.Of(graph.Sum(e, last)))))
		}},
		{name: "SiLU", in: shapes(tokens), op: unary(graph.SiLU), formula: func(in G.Nodes) (*G.Node, error) {
			var f expr.Formula
			return f.Result(f.Of(graph.Mul(in[0], f.Of(graph.Sigmoid(in[0])))))
		}},
		{name: "SwiGLU", in: shapes(tokens, tokens),
			op: func(in G.Nodes) (*G.Node, error) { return graph.SwiGLU(in[0], in[1]) },
			formula: func(in G.Nodes) (*G.Node, error) {
				var f expr.Formula
				return f.Result(f.Of(graph.Mul(f.Of(graph.SiLU(in[0])), in[1])))
			}},
		{name: "ReLUSquared", in: shapes(tokens), op: unary(graph.ReLUSquared), formula: func(in G.Nodes) (*G.Node, error) {
			var f expr.Formula
			y := f.Of(graph.ReLU(in[0]))
			return f.Result(f.Of(graph.Mul(y, y)))
		}},
		{name: "Softcap", in: shapes(tokens), op: unary(func(x *G.Node) (*G.Node, error) { return graph.Softcap(x, 30) }),
			formula: func(in G.Nodes) (*G.Node, error) {
				var f expr.Formula
				return f.Result(f.Of(graph.Scale(f.Of(graph.Tanh(f.Of(graph.Scale(in[0], 1./30)))), 30)))
			}},
	} {
		b.Run(c.name, func(b *testing.B) {
			op, formula := formulaMachine(b, c.in, c.op), formulaMachine(b, c.in, c.formula)
			var ratios []float64
			for b.Loop() {
				took := func(m *machine.Machine) float64 {
					start := time.Now()
					require.NoError(b, m.RunAll())
					return time.Since(start).Seconds()
				}
				of := took(op)
				ratios = append(ratios, took(formula)/of)
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "×time")
			b.ReportMetric(float64(formula.Memory().Sum)/float64(op.Memory().Sum), "×memory")
		})
	}
}

func formulaMachine(b *testing.B, in func(r *rand.Rand) []input,
	op func(in G.Nodes) (*G.Node, error)) *machine.Machine {
	r := rand.New(rand.NewPCG(1, 2))
	all := in(r)
	e := express(b, op, all, tensor.Float32)
	e.differentiate(b, all, normal(r, e.out.Shape()...), tensor.Float32)
	m, err := machine.New(append(e.grads, e.out)...)
	require.NoError(b, err)
	b.Cleanup(func() { _ = m.Close() })
	require.NoError(b, m.RunAll())
	return m
}
