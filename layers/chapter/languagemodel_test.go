package chapter_test

import (
	"fmt"
	"testing"

	"attention/internal/refusal"
	"attention/layers"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// small is a model of 13 tokens, context 5 and width 4 around one of the variants.
func small(layer string) chapter.LanguageModelConfig {
	return chapter.LanguageModelConfig{VocabSize: 13, ContextLength: 5, EmbedDim: 4, Attention: chapter.Config{
		Layer: layer, EmbedDim: 4, OutDim: 6, NumHeads: 2, QueryDim: 4, KeyDim: 4, AttnDim: 7}}
}

func tokens(v []int, shape ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(v))
}

// Around every variant: one id, a sequence and a batch give logits (…, T, V).
func TestLanguageModelShapes(t *testing.T) {
	for _, layer := range chapter.Names() {
		p := layers.NewParams(tensor.Float32, 1)
		m := must(chapter.NewLanguageModel(p.Scope("model"), small(layer)))
		all := names(p)
		require.Equal(t, []string{"model.tokens.weight", "model.positions.weight"}, all[:2])
		require.Equal(t, []string{"model.output.weight", "model.output.bias"}, all[len(all)-2:])
		for _, shape := range [][]int{{1}, {5}, {3, 1}, {2, 5}} {
			b := layers.NewBuild(p, layers.Train)
			ids := input(t, b, "ids", tokens(make([]int, tensor.Shape(shape).TotalSize()), shape...))
			logits := must(m.Forward(b, ids))
			weights := must(m.Weights(b, ids))
			require.Equal(t, append(shape, 13), []int(logits.Shape()), layer)
			T := shape[len(shape)-1]
			require.Equal(t, len(shape)+2, weights.Dims(), "%s: with an axis of heads", layer)
			require.Equal(t, []int{T, T}, []int(weights.Shape()[weights.Dims()-2:]), layer)
			values(t, logits, weights)
		}
	}
}

// Positions change the logits, and the logits of a causal model do not depend on later ids.
func TestLanguageModelSeesPositionsNotTheFuture(t *testing.T) {
	logits := func(layer string, ids ...int) []float64 {
		p := layers.NewParams(tensor.Float64, 1)
		m := must(chapter.NewLanguageModel(p.Scope(""), small(layer)))
		b := layers.NewBuild(p, layers.Eval)
		return values(t, must(m.Forward(b, input(t, b, "ids", tokens(ids, len(ids))))))[0]
	}
	for _, layer := range chapter.Names() {
		same := logits(layer, 7, 7)
		require.NotEqual(t, same[:13], same[13:], "%s: one token at two positions", layer)
		a, b := logits(layer, 1, 2, 3), logits(layer, 1, 2, 9)
		require.Equal(t, chapter.Config{Layer: layer}.Causal(), fmt.Sprint(a[:26]) == fmt.Sprint(b[:26]), layer)
	}
}

func TestWrongModelsAreRefused(t *testing.T) {
	refusal.Check(t, small("causal"), "chapter: LanguageModel: ", refusal.Rows{
		{`{"vocab_size": 0}`, "VocabSize: got 0, want at least 1"},
		{`{"embed_dim": -1}`, "EmbedDim: got -1, want at least 1"},
		{`{"attention": {"out_dim": 0}}`, "Attention.OutDim: got 0, want at least 1"},
		{`{"attention": {"embed_dim": 3}}`, "Attention.EmbedDim: got 3, want EmbedDim=4"},
		{`{"attention": {"layer": "simple", "embed_dim": 0}}`, "Attention.EmbedDim: got 0, want EmbedDim=4"},
		{`{"attention": {"layer": "additive", "key_dim": 5}}`, "Attention.KeyDim: got 5, want EmbedDim=4"},
		{`{"attention": {"layer": "additive", "query_dim": 5}}`, "Attention.QueryDim: got 5, want EmbedDim=4"},
		{`{"attention": {"context_length": 4}}`, "Attention.ContextLength: got 4, want 0 or at least ContextLength=5"},
	}, chapter.LanguageModelConfig.Validate, func(c chapter.LanguageModelConfig) error {
		p := layers.NewParams(tensor.Float32, 1)
		_, err := chapter.NewLanguageModel(p.Scope(""), c)
		require.Equal(t, err != nil, p.Len() == 0)
		return err
	})
}

func TestWrongIDsAreRefused(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	m := must(chapter.NewLanguageModel(p.Scope(""), small("causal")))
	b := layers.NewBuild(p, layers.Eval)
	for _, row := range []struct {
		ids     *G.Node
		wantErr string
	}{
		{nil, "chapter: LanguageModel: ids: got nil, want a node"},
		{b.InputOf(tensor.Int, "long", 6), "chapter: LanguageModel: ids: shape (6), want ([B,] T <= ContextLength=5)"},
		{b.InputOf(tensor.Int, "deep", 1, 1, 1),
			"chapter: LanguageModel: ids: shape (1, 1, 1), want ([B,] T <= ContextLength=5)"},
		{G.NewScalar(b.Graph(), tensor.Int, G.WithName("one")),
			"chapter: LanguageModel: ids: shape (), want ([B,] T <= ContextLength=5)"},
		{G.NewVector(b.Graph(), tensor.Int, G.WithName("bare")),
			"chapter: LanguageModel: ids: shape (), want ([B,] T <= ContextLength=5)"},
		{b.Input("floats", 5), "graph: Embedding: ids: got float32, want int or int64"},
		{layers.NewBuild(p, layers.Eval).InputOf(tensor.Int, "other", 5),
			"graph: Embedding: ids: got a node of another graph, want one of weight's"},
	} {
		out, err := m.Forward(b, row.ids)
		require.ErrorContains(t, err, row.wantErr)
		require.Nil(t, out)
	}
}
