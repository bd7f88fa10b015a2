package layers_test

import (
	"encoding/json"
	"testing"

	"attention/graph/machine"
	"attention/internal/golden"
	"attention/internal/refusal"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Initial values equal PyTorch's to the bit, and so do values drawn after a padding row was cleared. Outputs and
// gradients equal PyTorch's; the gradient of the padding is 0.
func TestEmbeddingsEqualPyTorch(t *testing.T) {
	file := golden.Load(t, "torch/modules.safetensors")
	for _, p := range torchTypes {
		params := layers.NewParams(p.dt, 123)
		for _, c := range []struct {
			name   string
			config layers.EmbeddingConfig
		}{
			{"embedding", layers.EmbeddingConfig{NumEmbeddings: 7, EmbeddingDim: 5}},
			{"embedding_padding", layers.EmbeddingConfig{NumEmbeddings: 11, EmbeddingDim: 3, PaddingIdx: new(0)}},
			{"embedding_last", layers.EmbeddingConfig{NumEmbeddings: 7, EmbeddingDim: 5, PaddingIdx: new(6)}},
		} {
			l := must(layers.NewEmbedding(params.Scope(c.name), c.config))
			want := torchCase{file, c.name + "." + p.label + ".", p.dt, p.tol}
			weight, _ := params.Get(c.name + ".weight")
			require.Equal(t, want.load("param.weight").Data(), weight.Data(), c.name)

			b := layers.NewBuild(params, layers.Train)
			ids := b.InputOf(tensor.Int64, "ids", file.Shape(want.prefix+"ids")...)
			require.NoError(t, G.Let(ids, of(file.Int64(want.prefix+"ids"), ids.Shape()...)))
			out := must(l.Forward(b, ids))
			grads := must(G.Backpropagate(G.Nodes{out}, G.Nodes{input(t, b, "dout", want.load("dout"))}, b.Learnables()))
			got := values(t, append(G.Nodes{out}, grads...)...)
			want.near(t, "out", out, got[0])
			want.near(t, "grad.weight", grads[0], got[1])
		}
	}
}

// Ids may have any shape, even a scalar's; wrong ids are an error of the build or of the run.
func TestEmbeddingForward(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	l := must(layers.NewEmbedding(p.Scope("tokens"), layers.EmbeddingConfig{NumEmbeddings: 3, EmbeddingDim: 2}))
	for _, shape := range [][]int{nil, {1}, {5}, {2, 3}, {2, 3, 5}} {
		b := layers.NewBuild(p, layers.Eval)
		out := must(l.Forward(b, b.InputOf(tensor.Int, "ids", shape...)))
		require.Equal(t, append(append([]int{}, shape...), 2), []int(out.Shape()))
	}
	b := layers.NewBuild(p, layers.Eval)
	_, err := l.Forward(b, nil)
	require.EqualError(t, err, "layers: tokens: Embedding: ids: got nil, want a node")
	_, err = l.Forward(b, b.Input("x", 2))
	require.EqualError(t, err, "layers: tokens: Embedding: graph: Embedding: ids: got float32, want int or int64")
	out := must(l.Forward(b, input(t, b, "ids", of([]int{0, 3}, 2))))
	m := must(machine.New(out))
	require.EqualError(t, m.RunAll(), "machine: graph: Embedding: ids: got 3 at 1, want 0 <= id < V=3")
}

func TestWrongEmbeddingsAreRefused(t *testing.T) {
	base := layers.EmbeddingConfig{NumEmbeddings: 3, EmbeddingDim: 2}
	refuses(t, "Embedding", layers.NewEmbedding, base, refusal.Rows{
		{`{"num_embeddings": 0}`, "NumEmbeddings: got 0, want at least 1"},
		{`{"embedding_dim": 0}`, "EmbeddingDim: got 0, want at least 1"},
		{`{"embedding_dim": 9223372036854775807}`, "EmbeddingDim: got 9223372036854775807, want at most 2147483647"},
		{`{"num_embeddings": 9223372036854775807}`,
			"NumEmbeddings: got 9223372036854775807 for EmbeddingDim=2, want at most 2147483647 elements in a weight"},
		{`{"padding_idx": -1}`, "PaddingIdx: got -1, want at least 0 and less than NumEmbeddings=3"},
		{`{"padding_idx": 3}`, "PaddingIdx: got 3, want at least 0 and less than NumEmbeddings=3"},
	})
}

// PaddingIdx 0 differs from none, in JSON too, and in parameters that are only declared or blank.
func TestEmbeddingConfig(t *testing.T) {
	for text, want := range map[string]layers.EmbeddingConfig{
		`{"num_embeddings":5,"embedding_dim":3}`: {NumEmbeddings: 5, EmbeddingDim: 3},
		`{"num_embeddings":5,"embedding_dim":3,"padding_idx":0}`: {NumEmbeddings: 5, EmbeddingDim: 3,
			PaddingIdx: new(0)},
	} {
		var c layers.EmbeddingConfig
		require.NoError(t, json.Unmarshal([]byte(text), &c))
		require.Equal(t, want, c)
		require.Equal(t, text, string(must(json.Marshal(c))))
		for _, p := range []*layers.Params{layers.NewParams(tensor.Float64, 1), layers.NewBlankParams(tensor.Float32)} {
			require.NotNil(t, must(layers.NewEmbedding(p.Scope(""), c)))
			require.Equal(t, []string{"weight (5, 3)"}, shapes(p))
			requireDeclared(t, p, layers.NewEmbedding, c)
		}
	}
}
