package stock_test

import (
	"fmt"
	"math"
	"testing"

	tensors "attention/internal/dense"
	"attention/internal/stock"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// normedNode returns the node of x normalised, without the scale and the shift that Gorgonia adds.
func normedNode(x *G.Node) (*G.Node, *G.BatchNormOp, error) {
	shape := tensor.Shape{1, x.Shape()[1], 1, 1}[:x.Dims()]
	input := func(name string) *G.Node {
		return G.NewTensor(x.Graph(), x.Dtype(), x.Dims(), G.WithShape(shape...), G.WithName(name), G.WithInit(G.Ones()))
	}
	_, _, _, op, err := G.BatchNorm(x, input("scale"), input("shift"), 0.25, 1e-3)
	if err != nil {
		return nil, nil, err
	}
	y, err := G.ApplyOp(op, x) // the same node
	return y, op, err
}

func norms() (cases []stockCase) {
	for _, shape := range []tensor.Shape{{4, 3, 2, 5}, {6, 4}, {2, 1, 1, 1}, {8, 16, 12, 12}} {
		cases = append(cases, stockCase{
			name: fmt.Sprint(shape), shapes: []tensor.Shape{shape}, by: stock.Loop, gradient: "*gorgonia.batchnormDiffOp",
			build: func(in G.Nodes) (*G.Node, error) {
				y, _, err := normedNode(in[0])
				return y, err
			},
		})
	}
	return cases
}

func TestBatchNorm(t *testing.T) {
	checkAll(t, norms())
}

// The op stores the running moments as Gorgonia does; evaluation and its gradient use them.
func TestBatchNormKeepsRunningMoments(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		g := G.NewGraph()
		x := G.NewTensor(g, dt, 4, G.WithShape(2, 1, 1, 2), G.WithName("x"))
		y, op, err := normedNode(x)
		require.NoError(t, err)
		grads, err := G.Grad(G.Must(G.Sum(G.Must(G.Square(y)))), x)
		require.NoError(t, err)
		require.NoError(t, op.Reset())
		values := map[*G.Node]G.Value{x: dense(dt, []float64{1, 2, 3, 6}, 2, 1, 1, 2)} // of mean 3, Σ (x − mean)² = 14
		evaluate(t, y, values)
		mean, variance := op.Stats()
		require.InDelta(t, 0.25*3, tensors.Float64s(mean)[0], 1e-6)
		require.InDelta(t, 0.75*1+0.25*14/3, tensors.Float64s(variance)[0], 1e-6, "unbiased")

		require.NoError(t, op.SetTraining(false))
		s := 1 / math.Sqrt(0.75*1+0.25*14.0/3+1e-3)
		got, grad := tensors.Float64s(evaluate(t, y, values)), tensors.Float64s(evaluate(t, grads[0], values))
		for i, v := range []float64{1, 2, 3, 6} {
			require.InDelta(t, (v-0.75)*s, got[i], 1e-6)
			require.InDelta(t, 2*(v-0.75)*s*s, grad[i], 1e-5)
		}
		require.InDelta(t, 0.75, tensors.Float64s(mean)[0], 1e-6, "evaluation changes nothing")
	}
}
