package layers

import (
	"fmt"

	"attention/graph"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// GPT is GPT-2 (Radford et al. 2019): token and position embeddings, causal blocks with
// the norms before the parts, a last norm, and the scores of the next token.
type GPT struct {
	name              string // in errors
	config            GPTConfig
	params            *Params
	tokens, positions Param
	blocks            []*Block
	norm              *Norm
	head              Param // of the scores: the token embeddings, unless untied
}

// NewGPT makes the parameters of GPT-2's state_dict:
//
//	transformer.wte.weight (V, E), transformer.wpe.weight (Context, E)
//	transformer.h.0.ln_1.weight (E)
//	transformer.h.0.attn.c_attn.weight (E, E + 2·K·D), transformer.h.0.attn.c_proj.weight (E, E)
//	transformer.h.0.ln_2.weight (E)
//	transformer.h.0.mlp.c_fc.weight (E, Hidden), transformer.h.0.mlp.c_proj.weight (Hidden, E)
//	…
//	transformer.ln_f.weight (E)
//	lm_head.weight (V, E), if untied
//
// and, unless NoBias, the .bias of each norm and each linear layer under transformer.h. D
// is E/H; with as many key/value heads as heads c_attn.weight is (E, 3E). Weights are drawn
// from a normal distribution with the deviation 0.02, those of both c_proj with
// 0.02/√(2·Layers); norms begin with 1, biases with 0.
func NewGPT(s Scope, c GPTConfig) (*GPT, error) { return checked(s, c, newGPT) }

func newGPT(s Scope, c GPTConfig) (*GPT, error) {
	parts := maker{scope: s}
	m := &GPT{name: s.name("GPT"), config: c, params: s.params}
	m.tokens = parts.param("transformer.wte.weight", Normal(0, 0.02), c.VocabSize, c.EmbedDim)
	m.positions = parts.param("transformer.wpe.weight", Normal(0, 0.02), c.ContextLength, c.EmbedDim)
	for i := range c.NumLayers {
		m.blocks = append(m.blocks, part(&parts, fmt.Sprintf("transformer.h.%d", i), newBlock, c.block()))
	}
	m.norm = part(&parts, "transformer.ln_f", newNorm, c.norm())
	m.head = m.tokens
	if !c.TieWordEmbeddings {
		m.head = parts.param("lm_head.weight", Normal(0, 0.02), c.VocabSize, c.EmbedDim)
	}
	return done(&parts, m)
}

// Params returns the parameters that the model's are among: one set for each model, as a
// rule.
func (m *GPT) Params() *Params { return m.params }

// Config returns what the model was made from.
func (m *GPT) Config() GPTConfig { return m.config }

// Forward maps ids, int or int64 (B, T) or (T), to logits (…, T, V).
func (m *GPT) Forward(b *Build, ids *G.Node) (*G.Node, error) {
	if err := checkIDs(m.name, "ids", b, ids, m.config.ContextLength); err != nil {
		return nil, err
	}
	var f expr.Formula
	positions := f.Of(graph.Rows(f.Of(b.node(m.positions)), 0, last(ids)))
	x := f.Of(m.transform(b, ids, positions, nil, nil)) // (…, T, E)
	logits := f.Of(m.score(b, x))
	return result(m.name, &f, logits)
}

// Loss is the mean cross entropy of the logits for ids, in nats: a scalar. targets are
// ids of their shape; those that are graph.IgnoreTarget do not count.
func (m *GPT) Loss(b *Build, ids, targets *G.Node) (*G.Node, error) {
	var f expr.Formula
	loss := f.Of(graph.CrossEntropy(f.Of(m.Forward(b, ids)), targets))
	return result(m.name, &f, loss)
}

// transform is all but the scores: (…, T, E).
func (m *GPT) transform(b *Build, ids, positions, start *G.Node, cache *GPTCache) (*G.Node, error) {
	var f expr.Formula
	tokens := f.Of(graph.Embedding(f.Of(b.node(m.tokens)), ids))
	x := f.Of(graph.Dropout(f.Of(graph.Add(tokens, positions)), b.Drop(m.config.EmbeddingDropout)))
	for i, block := range m.blocks {
		in := AttentionInput{Query: x}
		if cache != nil {
			in.Cache, in.Start = cache.layers[i], start
		}
		x = f.Of(block.Forward(b, in))
	}
	x = f.Of(m.norm.Forward(b, x))
	return f.Result(x)
}

// score is the logits of vectors (…, E): (…, V).
func (m *GPT) score(b *Build, x *G.Node) (*G.Node, error) {
	var f expr.Formula
	logits := f.Of(graph.Linear(x, f.Of(b.node(m.head)), nil))
	return f.Result(logits)
}
