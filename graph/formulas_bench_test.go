package graph_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"
	"attention/internal/expr"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// BenchmarkFormulas compares ops with the formulas of other ops that they replace, forward and backward in turns: the
// ratio of the times, and the ratio of the machines' memory.
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
		{name: "CausalConv", in: shapes(s{1024, 768}, s{768, 4}),
			op: func(in G.Nodes) (*G.Node, error) { return graph.CausalConv(in[0], in[1], nil, nil) },
			formula: func(in G.Nodes) (*G.Node, error) {
				var f expr.Formula
				weights := f.Of(graph.Transpose(in[1]))
				sum := f.Of(graph.Mul(in[0], f.Of(graph.Rows(weights, 3, 1))))
				for back := 1; back < 4; back++ {
					x := f.Of(graph.Rows(in[0], 0, 1024-back))
					for range back {
						x = f.Of(graph.AppendRow(x, nil))
					}
					sum = f.Of(graph.Add(sum, f.Of(graph.Mul(x, f.Of(graph.Rows(weights, 3-back, 1))))))
				}
				return f.Result(sum)
			}},
		{name: "LinearCrossEntropy", in: then(shapes(s{1024, 128}, s{32768, 128}), ids(make([]float64, 1024), 1024)),
			op: func(in G.Nodes) (*G.Node, error) {
				return graph.LinearCrossEntropy(in[0], in[1], in[2],
					graph.LinearCrossEntropyConfig{WithX: true, WithWeight: true})
			},
			formula: func(in G.Nodes) (*G.Node, error) {
				var f expr.Formula
				logits := f.Of(graph.Linear(in[0], in[1], nil))
				return f.Result(f.Of(graph.CrossEntropy(logits, in[2], graph.CrossEntropyConfig{})))
			}},
		{name: "FusedAttention", in: shapes(s{1024, 512}, s{1024, 512}, s{1024, 512}),
			op: func(in G.Nodes) (*G.Node, error) {
				r, err := graph.FusedAttention(graph.FusedInputs{Query: in[0], Key: in[1], Value: in[2]},
					graph.AttentionConfig{Heads: 8, Mask: mask.Causal{}})
				return r.Out, err
			},
			formula: func(in G.Nodes) (*G.Node, error) {
				out, _, err := graph.Attention(in[0], in[1], in[2], graph.AttentionConfig{Heads: 8, Mask: mask.Causal{}})
				return out, err
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
