package train_test

import (
	"context"
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

// Evaluate returns the mean over the targets of batches of any shapes, and errors for wrong batches.
func TestEvaluate(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	sum := must(layers.NewFunc(p, func(b *layers.Build, in layers.Inputs) []*G.Node {
		return append(b.Nodes(graph.Sum(in["x"], graph.ReduceConfig{})), in["x"])
	}, layers.FuncConfig{}))
	batch := func(tokens int, x ...float64) train.Batch {
		return train.Batch{Inputs: train.Values{"x": small.Vector(x...)}, Tokens: tokens}
	}
	of := func(all ...train.Batch) train.Source { return &small.List{List: all, End: io.EOF} }
	mean, tokens, err := train.Evaluate(t.Context(), sum, of(batch(3, 1, 2), batch(1, 7)), nil)
	require.NoError(t, err)
	require.Equal(t, []any{4.0, 4}, []any{mean, tokens})

	vector := must(layers.NewFunc(p, func(_ *layers.Build, in layers.Inputs) []*G.Node { return []*G.Node{in["x"]} },
		layers.FuncConfig{}))
	empty := must(layers.NewFunc(p, func(*layers.Build, layers.Inputs) []*G.Node { return nil }, layers.FuncConfig{}))
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, row := range []struct {
		ctx    context.Context
		loss   *layers.Func
		source train.Source
		want   string
	}{
		{nil, sum, of(), "context: got nil, want one"},
		{t.Context(), nil, of(), "loss: got nil, want a function"},
		{t.Context(), sum, nil, "source: got nil, want one"},
		{t.Context(), sum, of(), "source: got no batch, want at least one"},
		{t.Context(), sum, of(batch(0, 1)), "batch: tokens: got 0, want at least 1: the targets that count"},
		{t.Context(), vector, of(batch(1, 1)), "loss: got no float32 or float64 scalar for the first result, want one"},
		{t.Context(), empty, of(batch(1, 1)), "layers: func of x float64 (1): machine: wanted: got no node, want at least one"},
		{stopped, sum, of(batch(1, 1)), "context canceled"},
	} {
		_, _, err := train.Evaluate(row.ctx, row.loss, row.source, nil)
		require.EqualError(t, err, row.want)
	}
}
