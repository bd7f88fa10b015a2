package train_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"attention/graph"
	"attention/internal/small"
	"attention/layers"
	"attention/train"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Predict returns what the graph computes with the parameters as they are now; what it
// returned before stays as it was, and so do the inputs.
func TestPredict(t *testing.T) {
	p := layers.NewBlankParams(tensor.Float64)
	w := must(p.Scope("").Param("w", layers.Init{}, 2))
	b := layers.NewBuild(p, layers.Eval)
	x, unused := b.Input("x", 2), b.Input("y", 3)
	product := b.Of(graph.Mul(x, b.Node(w)))
	sum, loss := b.Of(graph.Add(product, x)), b.Of(graph.MSE(product, x, graph.LossConfig{}))
	b.Of(graph.Exp(unused))
	in := small.Vector(2, 3)
	var got [][]*tensor.Dense
	for _, weight := range []*tensor.Dense{small.Vector(10, 100), small.Vector(1, 1)} {
		require.NoError(t, p.Set("w", weight))
		out := must(train.Predict(b, train.Values{"x": in, "y": small.Vector(1), "labels": nil}, product, sum, loss, x))
		got = append(got, out)
	}
	for i, want := range [][]float64{{20, 300}, {22, 303}, {(18.0*18 + 297*297) / 2}, {2, 3}} {
		require.Equal(t, want, got[0][i].Float64s())
	}
	require.Equal(t, tensor.Shape{}, got[0][2].Shape())
	for i, want := range [][]float64{{2, 3}, {4, 6}, {0}, {2, 3}} {
		require.Equal(t, want, got[1][i].Float64s())
	}
	require.NoError(t, in.Memset(7.0))
	require.Equal(t, []float64{2, 3}, got[1][3].Float64s())
}

// A predictor runs often: each run has its own values, the parameters as they are, and a context that may stop it.
func TestPredictor(t *testing.T) {
	p := layers.NewBlankParams(tensor.Float64)
	w := must(p.Scope("").Param("w", layers.Init{}, 2))
	b := layers.NewBuild(p, layers.Eval)
	sum := b.Of(graph.Add(b.Input("x", 2), b.Node(w)))
	predictor := must(train.NewPredictor(b, sum))
	b.Input("later", 2) // is none of the predictor's
	first := must(predictor.Run(t.Context(), train.Values{"x": small.Vector(1, 2), "labels": nil}))
	require.NoError(t, p.Set("w", small.Vector(10, 10)))
	second := must(predictor.Run(t.Context(), train.Values{"x": small.Vector(3, 4)}))
	require.Equal(t, []float64{1, 2}, first[0].Float64s())
	require.Equal(t, []float64{13, 14}, second[0].Float64s())

	_, err := predictor.Run(t.Context(), train.Values{"y": small.Vector(3, 4)})
	require.EqualError(t, err, "train: predict: values: x: got none, want float64 (2)")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	_, err = predictor.Run(stopped, train.Values{"x": small.Vector(3, 4)})
	require.ErrorIs(t, err, context.Canceled)
}

func TestWrongPredictionsAreRefused(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	eval, training := layers.NewBuild(p, layers.Eval), layers.NewBuild(p, layers.Train)
	failed := layers.NewBuild(p, layers.Eval)
	x := eval.Input("x", 2)
	dropped := training.Of(layers.Dropout{P: 0.5}.Forward(training, training.Input("x", 2)))
	failed.Of(nil, errors.New("the build's own"))
	for _, c := range []struct {
		build   *layers.Build
		values  train.Values
		out     G.Nodes
		wantErr string
	}{
		{out: G.Nodes{x}, wantErr: "build: got none, want one of layers.NewBuild"},
		{build: failed, out: G.Nodes{x}, wantErr: "the build's own"},
		{build: eval, wantErr: "outputs: got none, want a node"},
		{build: eval, out: G.Nodes{x, nil}, wantErr: "output 1: got nil, want a node"},
		{build: eval, out: G.Nodes{dropped}, wantErr: "output 0: got a node of another graph, want one of the build's"},
		{build: &layers.Build{}, out: G.Nodes{x},
			wantErr: "build: got none, want one of layers.NewBuild"},
		{build: training, out: G.Nodes{dropped}, values: train.Values{"x": small.Vector(1, 2)},
			wantErr: "build: got a train graph with dropout, want an eval one"},
		{build: eval, out: G.Nodes{x}, wantErr: "values: x: got none, want float64 (2)"},
		{build: eval, out: G.Nodes{x}, values: train.Values{"x": small.Vector(1, 2, 3)},
			wantErr: "values: x: got float64 (3), want float64 (2)"},
	} {
		_, err := train.Predict(c.build, c.values, c.out...)
		require.EqualError(t, err, "train: predict: "+c.wantErr)
	}
	// Without dropout a Train graph is as good.
	y := training.Of(graph.Exp(training.Input("y", 2)))
	out := must(train.Predict(training, train.Values{"y": small.Vector(0, 0)}, y))
	require.Equal(t, []float64{1, 1}, out[0].Float64s())
}

// A mean loss has no dropout, and a source has an end.
func TestEvaluatorRefuses(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	eval, training := layers.NewBuild(p, layers.Eval), layers.NewBuild(p, layers.Train)
	loss := eval.Of(G.Sum(eval.Input("x", 2)))
	_, err := train.NewEvaluator(nil, loss, nil)
	require.EqualError(t, err, "train: evaluator: got no build, want one of layers.NewBuild")
	_, err = train.NewEvaluator(training, loss, nil)
	require.EqualError(t, err, "train: train graph: loss: got a node of another graph, want one of the build's")
	dropped := training.Of(G.Sum(training.Of(layers.Dropout{P: 0.5}.Forward(training, training.Input("x", 2)))))
	_, err = train.NewEvaluator(training, dropped, nil)
	require.EqualError(t, err, "train: train graph: build: got one with dropout, want an eval one")
	e := must(train.NewEvaluator(eval, loss, nil))
	_, _, err = e.Run(t.Context(), nil)
	require.EqualError(t, err, "source: got nil, want one")
	_, _, err = e.Run(t.Context(), &small.List{End: io.EOF})
	require.EqualError(t, err, "source: got no batch, want at least one")
	batch := train.Batch{Inputs: train.Values{"x": small.Vector(1, 2)}, Tokens: 3}
	mean, tokens, err := e.Run(t.Context(), &small.List{List: []train.Batch{batch}, End: io.EOF})
	require.NoError(t, err)
	require.Equal(t, []any{3.0, 3}, []any{mean, tokens})
}
