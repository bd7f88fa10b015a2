package train_test

import (
	"math"
	"testing"

	"attention/graph"
	"attention/internal/golden"
	"attention/layers"
	"attention/train"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func TestErrorsOfCachedGradients(t *testing.T) {
	m := newTowers(tensor.Float32, 0)
	v := m.triplets(8).Inputs
	for _, c := range []struct {
		formula layers.Formula
		change  func(v train.Values)
		want    string
	}{
		{change: func(v train.Values) { v["score"] = golden.Dense(tensor.Float32, make([]float64, 7), 7) },
			want: `train: step 1: batch: "score": got 7 rows, want 8 as of "anchor"`},
		{change: func(v train.Values) { v["score"] = tensor.New(tensor.FromScalar(float32(1))) },
			want: `train: step 1: batch: "score": shape (), want one row or more`},
		{change: func(v train.Values) { v["cached.0"] = v["score"] }, want: `input "cached.0"`},
		{formula: func(b *layers.Build, in layers.Inputs) []*G.Node {
			return b.Nodes(graph.Mean(in["score"], graph.ReduceConfig{}))
		}, want: "loss: has no embeddings that Build.Cached marks, want some for MiniBatchSize"},
		{formula: func(b *layers.Build, in layers.Inputs) []*G.Node {
			x := m.texts(b, in, "anchor")
			return b.Nodes(graph.Mean(b.Cached(G.Concat(0, x, x)), graph.ReduceConfig{}))
		}, want: "Build.Cached: got float32 (6, 8), want float32 (3, …), a row for each of the batch"},
		{formula: func(b *layers.Build, in layers.Inputs) []*G.Node {
			x := b.Of(m.encoder.Embedding(b, layers.EncoderInput{IDs: in["anchor"]}, layers.MeanPooling, true))
			return b.Nodes(layers.CoSENTLoss{}.Forward(b, m.texts(b, in, "positive"), x, in["score"]))
		}, want: "weight: want a loss that depends on the marked embeddings, and on parameters by them alone"},
		{formula: func(b *layers.Build, in layers.Inputs) []*G.Node {
			m.texts(b, in, "anchor")
			return b.Nodes(graph.Mean(m.texts(b, in, "positive"), graph.ReduceConfig{}))
		}, want: "loss: cached.0: want a loss that depends on the marked embeddings"},
		{formula: func(b *layers.Build, in layers.Inputs) []*G.Node { return []*G.Node{m.texts(b, in, "anchor")} },
			want: "loss: got float32 (8, 8), want a float32 or float64 scalar"},
		{formula: func(b *layers.Build, in layers.Inputs) []*G.Node {
			m.texts(b, in, "anchor")
			return nil
		}, want: "loss: got nil, want a node"},
	} {
		if c.formula == nil {
			c.formula = m.losses()["pairs"]
		}
		in := m.triplets(8).Inputs
		if c.change != nil {
			c.change(in)
		}
		step := must(train.NewStepFunc(m.params, c.formula, cachedConfig(3)))
		_, err := step.Run(in)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, step.Prepare(in), c.want)
	}
	step := must(train.NewStepFunc(m.params, m.losses()["pairs"], cachedConfig(3)))
	must(step.Run(v))
	for name, w := range m.params.All() {
		if name == "embeddings.position_embeddings.weight" {
			w.Float32s()[0] = float32(math.NaN())
		}
	}
	_, err := step.Run(v)
	require.ErrorIs(t, err, train.ErrNotFinite)
	require.ErrorContains(t, err, "train: step 2: ")
	_, err = train.NewStepFunc(m.params, m.losses()["pairs"], cachedConfig(-1))
	require.EqualError(t, err, "train: MiniBatchSize: got -1, want at least 0")
	b := layers.NewBuild(m.params, layers.Train)
	_, err = train.NewStep(b, m.losses()["pairs"](b, b.InputsOf(v))[0], cachedConfig(3))
	require.EqualError(t, err, "train: MiniBatchSize: got 3 for a graph, want 0, or a formula of NewStepFunc")
}
