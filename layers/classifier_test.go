package layers_test

import (
	"testing"

	"attention/graph"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// A classifier with as many classes as a decoder has tokens, and with the decoder's head as its weight, gives the
// decoder's scores and loss.
func TestClassifier(t *testing.T) {
	c := tinyDecoder()
	c.TieWordEmbeddings = false
	p := layers.NewParams(tensor.Float64, 3)
	m := must(layers.NewDecoder(p.Scope(""), c))
	classes := must(layers.NewClassifier(m, c.VocabSize, 7))
	head, _ := p.Get("lm_head.weight")
	require.NoError(t, p.Set("score.weight", head))
	for _, mode := range []layers.Mode{layers.Eval, layers.Train} {
		b := layers.NewBuild(p, mode)
		ids := input(t, b, "ids", intVector(3, 1, 4, 1, 5))
		rows := input(t, b, "rows", of([]int{3, 1, 4, 1, 5}, 1, 5))
		packing := layers.Packing{
			Segments:  input(t, b, "segments", of([]int{0, 0, 0, 1, 1}, 1, 5)),
			Positions: input(t, b, "positions", of([]int{0, 1, 2, 0, 1}, 1, 5))}
		targets := input(t, b, "targets", of([]int{graph.IgnoreTarget, graph.IgnoreTarget, 2, graph.IgnoreTarget, 1}, 1, 5))
		got, own := b.Of(classes.PackedLoss(b, rows, targets, packing)), b.Of(m.PackedLoss(b, rows, targets, packing))
		run(t, got, own)
		require.InDelta(t, number(own.Value()), number(got.Value()), 1e-12)
		scores := values(t, b.Of(classes.Scores(b, ids)), b.Of(m.Next(b, ids)), b.Of(classes.PackedScores(b, rows, packing)))
		require.NoError(t, b.Err())
		require.InDeltaSlice(t, scores[1], scores[0], 1e-12)
		first := values(t, b.Of(classes.Scores(b, input(t, b, "first", intVector(3, 1, 4)))))[0]
		require.InDeltaSlice(t, first, scores[2][2*c.VocabSize:3*c.VocabSize], 1e-12, "of a text in a row with others")
	}
	_, err := layers.NewClassifier(m, 1, 0)
	require.EqualError(t, err, "layers: Classifier: got 1 classes, want at least 2")
	_, err = layers.NewClassifier(nil, 2, 0)
	require.EqualError(t, err, "layers: Classifier: got nil, want a decoder")
	_, err = layers.NewClassifier(m, 2, 0)
	require.ErrorContains(t, err, "is there already")
}

// Adapters and classifiers begin with values beside weights that are kept as they are.
func TestKeptParamsGetAdapters(t *testing.T) {
	p := layers.NewStoredParams(tensor.Float32)
	m := must(layers.NewDecoder(p.Scope(""), tinyDecoder()))
	for name, shape := range p.Shapes() {
		require.NoError(t, p.Keep(name, tensor.New(tensor.Of(tensor.Float32), tensor.WithShape(shape...))))
	}
	must(layers.NewClassifier(m, 3, 7))
	require.NoError(t, p.AddLoRA(layers.LoRAConfig{Whole: []string{"score.weight"}}))
	n := 0
	for name, value := range p.Own() {
		require.True(t, p.IsAdapter(name) || name == "score.weight")
		require.NotNil(t, value)
		n++
	}
	require.Equal(t, 1+2*7*tinyDecoder().NumLayers, n)
}
