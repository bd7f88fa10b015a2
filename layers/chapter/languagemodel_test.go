package chapter_test

import (
	"fmt"
	"testing"

	"attention/graph"
	"attention/layers"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// small is a model of 13 tokens, 5 of context, width 4, around a variant.
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
		m, err := chapter.NewLanguageModel(p.Scope("model"), small(layer))
		require.NoError(t, err)
		all := names(p)
		require.Equal(t, []string{"model.tokens.weight", "model.positions.weight"}, all[:2])
		require.Equal(t, []string{"model.output.weight", "model.output.bias"}, all[len(all)-2:])
		for _, shape := range [][]int{{1}, {5}, {3, 1}, {2, 5}} {
			b := layers.NewBuild(p, layers.Train)
			ids := input(t, b, "ids", tokens(make([]int, tensor.Shape(shape).TotalSize()), shape...))
			b.Observe("*")
			logits, err := m.Forward(b, ids)
			require.NoError(t, err)
			weights, err := m.Weights(b, ids)
			require.NoError(t, err)
			require.Equal(t, append(shape, 13), []int(logits.Shape()), layer)
			T := shape[len(shape)-1]
			require.Equal(t, len(shape)+2, weights.Dims(), "%s: with an axis of heads", layer)
			require.Equal(t, []int{T, T}, []int(weights.Shape()[weights.Dims()-2:]), layer)
			got := values(t, logits)
			b = layers.NewBuild(p, layers.Train)
			plain, err := m.Forward(b, input(t, b, "ids", tokens(make([]int, tensor.Shape(shape).TotalSize()), shape...)))
			require.NoError(t, err)
			require.InDeltaSlice(t, got[0], values(t, plain)[0], 1e-6, layer)
		}
	}
}

// Positions matter, and no causal model's logits depend on later ids.
func TestLanguageModelSeesPositionsNotTheFuture(t *testing.T) {
	logits := func(layer string, ids ...int) []float64 {
		p := layers.NewParams(tensor.Float64, 1)
		m, err := chapter.NewLanguageModel(p.Scope(""), small(layer))
		require.NoError(t, err)
		b := layers.NewBuild(p, layers.Eval)
		out, err := m.Forward(b, input(t, b, "ids", tokens(ids, len(ids))))
		require.NoError(t, err)
		return values(t, out)[0]
	}
	for _, layer := range chapter.Names() {
		same := logits(layer, 7, 7)
		require.NotEqual(t, same[:13], same[13:], "%s: one token at two positions", layer)
		a, b := logits(layer, 1, 2, 3), logits(layer, 1, 2, 9)
		require.Equal(t, chapter.Config{Layer: layer}.Causal(), fmt.Sprint(a[:26]) == fmt.Sprint(b[:26]), layer)
	}
}

// Every parameter gets a gradient from the loss of the next token.
func TestLanguageModelTrainsEveryParameter(t *testing.T) {
	for _, layer := range chapter.Names() {
		p := layers.NewParams(tensor.Float64, 1)
		m, err := chapter.NewLanguageModel(p.Scope(""), small(layer))
		require.NoError(t, err)
		b := layers.NewBuild(p, layers.Train)
		out, err := m.Forward(b, input(t, b, "ids", tokens([]int{1, 2, 3, 4, 5, 6}, 2, 3)))
		require.NoError(t, err)
		loss, err := graph.CrossEntropy(out, input(t, b, "targets", tokens([]int{2, 3, 4, 5, 6, 7}, 2, 3)),
			graph.CrossEntropyConfig{})
		require.NoError(t, err)
		require.Len(t, b.Learnables(), p.Len())
		grads, err := G.Grad(loss, b.Learnables()...)
		require.NoError(t, err)
		for i, g := range values(t, grads...) {
			sum := 0.0
			for _, v := range g {
				sum += v * v
			}
			require.NotZero(t, sum, "%s: %s", layer, b.Learnables()[i].Name())
		}
	}
}

func TestWrongModelsAreRefused(t *testing.T) {
	for _, c := range []struct {
		change  func(c *chapter.LanguageModelConfig)
		wantErr string
	}{
		{change: func(c *chapter.LanguageModelConfig) { c.VocabSize = 0 },
			wantErr: "chapter: LanguageModel: VocabSize: got 0, want at least 1"},
		{change: func(c *chapter.LanguageModelConfig) { c.EmbedDim = -1 },
			wantErr: "chapter: LanguageModel: EmbedDim: got -1, want at least 1"},
		{change: func(c *chapter.LanguageModelConfig) { c.Attention.OutDim = 0 },
			wantErr: "chapter: LanguageModel: Attention.OutDim: got 0, want at least 1"},
		{change: func(c *chapter.LanguageModelConfig) { c.Attention.EmbedDim = 3 },
			wantErr: "chapter: LanguageModel: Attention.EmbedDim: got 3, want EmbedDim=4"},
		{change: func(c *chapter.LanguageModelConfig) {
			c.Attention = small("simple").Attention
			c.Attention.EmbedDim = 0
		},
			wantErr: "chapter: LanguageModel: Attention.EmbedDim: got 0, want EmbedDim=4"},
		{change: func(c *chapter.LanguageModelConfig) {
			c.Attention = small("additive").Attention
			c.Attention.KeyDim = 5
		},
			wantErr: "chapter: LanguageModel: Attention.KeyDim: got 5, want EmbedDim=4"},
		{change: func(c *chapter.LanguageModelConfig) {
			c.Attention = small("additive").Attention
			c.Attention.QueryDim = 5
		},
			wantErr: "chapter: LanguageModel: Attention.QueryDim: got 5, want EmbedDim=4"},
		{change: func(c *chapter.LanguageModelConfig) { c.Attention.ContextLength = 4 },
			wantErr: "chapter: LanguageModel: Attention.ContextLength: got 4, want 0 or at least ContextLength=5"},
	} {
		config := small("causal")
		c.change(&config)
		require.EqualError(t, config.Validate(), c.wantErr)
		p := layers.NewParams(tensor.Float32, 1)
		_, err := chapter.NewLanguageModel(p.Scope(""), config)
		require.EqualError(t, err, c.wantErr)
		require.Zero(t, p.Len())
	}
}

func TestWrongIDsAreRefused(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	m, err := chapter.NewLanguageModel(p.Scope(""), small("causal"))
	require.NoError(t, err)
	b := layers.NewBuild(p, layers.Eval)
	for _, row := range []struct {
		wantErr string
		ids     *G.Node
	}{
		{wantErr: "chapter: LanguageModel: ids: got nil, want a node"},
		{wantErr: "chapter: LanguageModel: ids: shape (6), want ([B,] T <= ContextLength=5)",
			ids: b.InputOf(tensor.Int, "long", 6)},
		{wantErr: "chapter: LanguageModel: ids: shape (1, 1, 1), want ([B,] T <= ContextLength=5)",
			ids: b.InputOf(tensor.Int, "deep", 1, 1, 1)},
		{wantErr: "chapter: LanguageModel: ids: shape (), want ([B,] T <= ContextLength=5)",
			ids: G.NewScalar(b.Graph(), tensor.Int, G.WithName("one"))},
		{wantErr: "chapter: LanguageModel: ids: shape (), want ([B,] T <= ContextLength=5)",
			ids: G.NewVector(b.Graph(), tensor.Int, G.WithName("bare"))},
		{wantErr: "graph: Embedding: ids: got float32, want int or int64", ids: b.Input("floats", 5)},
		{wantErr: "graph: Embedding: ids: got a node of another graph, want one of weight's",
			ids: layers.NewBuild(p, layers.Eval).InputOf(tensor.Int, "other", 5)},
	} {
		require.NotPanics(t, func() {
			out, err := m.Forward(b, row.ids)
			require.ErrorContains(t, err, row.wantErr)
			require.Nil(t, out)
		}, row.wantErr)
	}
}
