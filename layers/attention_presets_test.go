package layers_test

import (
	"testing"

	"attention/graph"
	"attention/layers"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

// torchCases are the cases of testdata/torch/layers.py.
var torchCases = map[string]func(s layers.Scope) (forward, error){
	"simple":             oneHead(chapter.Config{Layer: "simple"}),
	"simple_batch":       oneHead(chapter.Config{Layer: "simple"}),
	"self_v1":            oneHead(chapter.Config{Layer: "self_v1", EmbedDim: 3, OutDim: 7}),
	"self_v1_batch":      oneHead(chapter.Config{Layer: "self_v1", EmbedDim: 3, OutDim: 7}),
	"self_v2":            oneHead(chapter.Config{Layer: "self_v2", EmbedDim: 3, OutDim: 7}),
	"self_v2_bias_batch": oneHead(chapter.Config{Layer: "self_v2", EmbedDim: 3, OutDim: 7, QKVBias: true}),
	"causal":             oneHead(chapter.Config{Layer: "causal", EmbedDim: 5, OutDim: 3}),
	"causal_batch":       oneHead(chapter.Config{Layer: "causal", EmbedDim: 5, OutDim: 3, ContextLength: 11}),
	"causal_bias":        oneHead(chapter.Config{Layer: "causal", EmbedDim: 5, OutDim: 3, QKVBias: true}),
	"causal_bias_batch":  squeezed(ofConfig(biased(chapter.Causal(5, 3)))),
	"multi_head_wrapper": ofConfig(chapter.MultiHeadWrapper(5, 2, 3)),
	"multi_head_wrapper_bias_batch": named(chapter.Config{Layer: "multi_head_wrapper", EmbedDim: 5, OutDim: 2, NumHeads: 3,
		QKVBias: true}),
	"multi_head": named(chapter.Config{Layer: "multi_head", EmbedDim: 5, OutDim: 6, NumHeads: 2,
		ContextLength: 7}),
	"multi_head_bias": named(chapter.Config{Layer: "multi_head", EmbedDim: 5, OutDim: 6, NumHeads: 2,
		QKVBias: true}),
	"multi_head_batch": ofConfig(chapter.MultiHead(5, 6, 3)),
	"multi_head_bias_batch": named(chapter.Config{Layer: "multi_head", EmbedDim: 5, OutDim: 6, NumHeads: 3,
		QKVBias: true}),
	"multi_head_narrow": ofConfig(chapter.MultiHead(2, 3, 3)),
	"additive":          squeezed(additive(3, 5, 11)),
	"additive_batch":    squeezed(additive(3, 5, 11)),
	"model":             model(7),
}

func biased(c layers.AttentionConfig) layers.AttentionConfig {
	c.QKVBias = true
	return c
}

func named(c chapter.Config) func(s layers.Scope) (forward, error) {
	return func(s layers.Scope) (forward, error) { return self(chapter.New(s, c)) }
}

func ofConfig(c layers.AttentionConfig) func(s layers.Scope) (forward, error) {
	return func(s layers.Scope) (forward, error) { return self(newSelf(s, c)) }
}

// oneHead renames the weights of classes of one head: the chapter's classes have no axis of heads.
func oneHead(c chapter.Config) func(s layers.Scope) (forward, error) { return squeezed(named(c)) }

func squeezed(construct func(s layers.Scope) (forward, error)) func(s layers.Scope) (forward, error) {
	return func(s layers.Scope) (forward, error) {
		run, err := construct(s)
		return func(b *layers.Build, withWeights bool, in ...*G.Node) (out, weights *G.Node, err error) {
			out, weights, err = run(b, withWeights, in...)
			if err == nil && withWeights {
				weights, err = graph.MergeHeads(weights)
			}
			return out, weights, err
		}, err
	}
}

func additive(query, key, attn int) func(s layers.Scope) (forward, error) {
	return func(s layers.Scope) (forward, error) {
		return cross(layers.NewAdditiveAttention(s,
			layers.AdditiveAttentionConfig{QueryDim: query, KeyDim: key, AttnDim: attn}))
	}
}

func model(context int) func(s layers.Scope) (forward, error) {
	return func(s layers.Scope) (forward, error) {
		m, err := chapter.NewLanguageModel(s, chapter.LanguageModelConfig{VocabSize: 13, ContextLength: context, EmbedDim: 8,
			Attention: chapter.Config{Layer: "multi_head", EmbedDim: 8, OutDim: 6, NumHeads: 3}})
		return self(m, err)
	}
}

// inputs makes the inputs x and key; for a model x contains ids.
func (c torchCase) inputs(t *testing.T, b *layers.Build) (in G.Nodes) {
	for _, name := range []string{"x", "key"} {
		switch {
		case len(c.entries(name)) == 0:
		case len(c.entries("d"+name)) == 0:
			v := c.file.Int64(c.prefix + name)
			in = append(in, input(t, b, name, of(v, c.file.Shape(c.prefix+name)...)))
		default:
			in = append(in, input(t, b, name, c.load(name)))
		}
	}
	return in
}

func (c torchCase) test(t *testing.T, make func(s layers.Scope) (forward, error), withWeights bool) {
	p := layers.NewParams(c.dt, 1)
	run := must(make(p.Scope("")))
	require.Equal(t, c.entries("param."), names(p), "the names of state_dict, in its order")
	for name := range p.All() {
		require.NoError(t, p.Set(name, c.load("param."+name)))
	}
	b := layers.NewBuild(p, layers.Train) // the config has no dropout
	in := c.inputs(t, b)
	out, weights, err := run(b, withWeights, in...)
	require.NoError(t, err)
	require.Nil(t, b.DropoutKey())
	wrt := append(G.Nodes{}, b.Learnables()...)
	for _, x := range in {
		if x.Dtype() == c.dt {
			wrt = append(wrt, x)
		}
	}
	dout := b.InputOf(c.dt, "dout", out.Shape()...)
	require.NoError(t, b.Err())
	require.NoError(t, G.Let(dout, c.load("dout")))
	wanted := append(G.Nodes{out}, must(G.Backpropagate(G.Nodes{out}, G.Nodes{dout}, wrt))...)
	if withWeights {
		wanted = append(wanted, weights)
	}
	got := values(t, wanted...)
	c.near(t, "out", out, got[0])
	if withWeights {
		c.near(t, "weights", weights, got[len(got)-1])
	}
	require.Len(t, b.Learnables(), p.Len())
	for i, n := range wrt {
		entry := "grad." + n.Name()
		if i >= p.Len() {
			entry = "d" + n.Name()
		}
		c.near(t, entry, n, got[1+i])
	}
}
