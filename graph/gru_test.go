package graph_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/internal/expr"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func gruCases() []opCase {
	return []opCase{
		{name: "gru", op: gru, want: naiveGRU, in: shapes(s{3, 5, 21}, s{21, 7}, s{3, 7}, s{21})},
		{name: "gru_single", op: gru, want: naiveGRU, in: shapes(s{5, 9}, s{9, 3}, s{3}, s{9})},
		{name: "gru_one", op: gru, want: naiveGRU, in: shapes(s{1, 3}, s{3, 1}, s{1}, s{3})},
	}
}

func gru(in G.Nodes) (*G.Node, error) {
	return graph.GRU(in[0], in[2], in[1], in[3], graph.GRUConfig{})
}

// naiveGRU computes one number at a time.
func naiveGRU(in []array) array {
	x, weight, h0, bias := in[0], in[1], in[2], in[3]
	n := len(bias.v) / 3
	t := x.shape[len(x.shape)-2]
	out := zeros(append(append([]int{}, x.shape[:len(x.shape)-1]...), n)...)
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	for b := range len(h0.v) / n {
		h := h0.v[b*n:][:n]
		for i := range t {
			row := b*t + i
			next := out.v[row*n:][:n]
			w := make([]float64, 3*n)
			for j := range w {
				w[j] = bias.v[j]
				for k, v := range h {
					w[j] += weight.v[j*n+k] * v
				}
			}
			for j := range next {
				in := x.v[3*row*n:]
				r, z := sigmoid(in[j]+w[j]), sigmoid(in[n+j]+w[n+j])
				next[j] = (1-z)*math.Tanh(in[2*n+j]+r*w[2*n+j]) + z*h[j]
			}
			h = next
		}
	}
	return out
}

// composedGRU is a GRU of one sequence (T, 3·N), composed of ops with their own precision.
func composedGRU(p graph.Precision) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) {
		var f expr.Formula
		x, weight, bias := in[0], in[1], in[3]
		T, n := x.Shape()[0], weight.Shape()[1]
		h := f.Of(G.Reshape(in[2], tensor.Shape{1, n}))
		split := func(x *G.Node) G.Nodes {
			parts, err := graph.Split(x, n, n, n)
			f.Of(x, err)
			return parts
		}
		var states G.Nodes
		for i := range T {
			of, w := split(f.Of(graph.Rows(x, i, 1))), split(f.Of(p.Linear(h, weight, bias)))
			r, z := f.Of(graph.Sigmoid(f.Of(graph.Add(of[0], w[0])))), f.Of(graph.Sigmoid(f.Of(graph.Add(of[1], w[1]))))
			next := f.Of(graph.Tanh(f.Of(graph.Add(of[2], f.Of(graph.Mul(r, w[2]))))))
			h = f.Of(graph.Add(next, f.Of(graph.Mul(z, f.Of(graph.Sub(h, next)))))) // (1, N)
			states = append(states, h)
		}
		return f.Result(f.Of(G.Reshape(f.Of(graph.Concat(states...)), tensor.Shape{T, n})))
	}
}

// TestGRUInBFloat16: the products are those of rounded operands, forward and backward.
func TestGRUInBFloat16(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	const T, N = 3, 5
	in := []array{
		singlePrecision(r, T, 3*N), singlePrecision(r, 3*N, N), singlePrecision(r, N), singlePrecision(r, 3*N),
	}
	dout := singlePrecision(r, T, N)
	fused := product{op: func(p graph.Precision) func(in G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) {
			return graph.GRU(in[0], in[2], in[1], in[3], graph.GRUConfig{Precision: p})
		}
	}}
	got := fused.run(t, graph.BFloat16, tensor.Float32, dout, in...)
	want := product{op: composedGRU}.run(t, graph.BFloat16, tensor.Float32, dout, in...)
	full := fused.run(t, graph.FullPrecision, tensor.Float32, dout, in...)
	near(t, "states", want.out, got.out, 1e-5)
	require.NotEqual(t, full.out, got.out)
	for i, name := range []string{"x", "weight", "h0", "bias"} {
		near(t, name, want.grads[i], got.grads[i], 1e-5)
		require.NotEqual(t, full.grads[i], got.grads[i], name)
	}
}

func TestGRURefusesShapes(t *testing.T) {
	for _, c := range []struct {
		x, h0, weight, bias, lengths []int
		wantErr                      string
	}{
		{x: s{5, 7}, weight: s{9, 3}, wantErr: "x: shape (5, 7), want ([B,] T, 3·N)"},
		{x: s{9}, weight: s{9, 3}, wantErr: "x: shape (9), want ([B,] T, 3·N)"},
		{x: s{2, 5, 9}, weight: s{3, 9}, wantErr: "weight: shape (3, 9), want (9, 3)"},
		{x: s{2, 5, 9}, weight: s{9, 3}, h0: s{3}, wantErr: "h0: shape (3), want (2, 3)"},
		{x: s{5, 9}, weight: s{9, 3}, bias: s{3}, wantErr: "bias: shape (3), want (9)"},
		{x: s{2, 5, 9}, weight: s{9, 3}, lengths: s{5}, wantErr: "lengths: shape (5), want (2)"},
	} {
		g := G.NewGraph()
		node := func(dt tensor.Dtype, name string, shape []int) *G.Node {
			if shape == nil {
				return nil
			}
			return G.NewTensor(g, dt, len(shape), G.WithShape(shape...), G.WithName(name))
		}
		f := tensor.Float32
		_, err := graph.GRU(node(f, "x", c.x), node(f, "h0", c.h0), node(f, "weight", c.weight), node(f, "bias", c.bias),
			graph.GRUConfig{Lengths: node(tensor.Int, "lengths", c.lengths)})
		require.EqualError(t, err, "graph: GRU: "+c.wantErr)
	}
}
