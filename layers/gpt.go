package layers

import (
	"cmp"

	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// GPT is GPT-2 (Radford et al. 2019): token and position embeddings, causal blocks with
// the norms before the parts, a last norm, and the scores of the next token.
type GPT struct {
	name              string // in errors
	config            GPTConfig
	params            *Params
	tokens, positions *Embedding
	blocks            []*Block
	norm              *Norm
	head              *Embedding // of the scores: the token embeddings, if they are tied
}

// NewGPT makes the parameters of GPT-2's state_dict:
//
//	transformer.wte.weight (V, E), transformer.wpe.weight (ContextLength, E)
//	transformer.h.0.ln_1.weight (E)
//	transformer.h.0.attn.c_attn.weight (E, E + 2·K·D), transformer.h.0.attn.c_proj.weight (E, E)
//	transformer.h.0.ln_2.weight (E)
//	transformer.h.0.mlp.c_fc.weight (E, F), transformer.h.0.mlp.c_proj.weight (F, E)
//	…
//	transformer.ln_f.weight (E)
//	lm_head.weight (V, E), unless TieWordEmbeddings
//
// and, with Bias, the .bias of each norm and each linear layer under transformer.h; c_attn has
// one if QKVBias says so. D is E/H and F is DimFeedforward; with as many key/value heads as
// heads c_attn.weight is (E, 3E). Weights are drawn from a normal distribution with the
// deviation 0.02, both c_proj with 0.02/√(2·NumLayers); norms begin with 1, biases with 0.
// With the Initializer torch, embeddings are drawn with the deviation 1, and the weights and
// biases of all other products are uniform within ±1/√in, in the order of a model with an nn.Linear
// for each of queries, keys and values.
func NewGPT(s Scope, c GPTConfig) (*GPT, error) { return checked(s, "GPT", c, newGPT) }

func newGPT(s Scope, c GPTConfig) (*GPT, error) {
	if c.Initializer == TorchInitializer {
		keys := c.EmbedDim / c.NumHeads * cmp.Or(c.NumKVHeads, c.NumHeads) // width of the keys, and of the values
		defer s.beginAsTorch([3]int{c.EmbedDim, keys, keys})()
	}
	parts := maker{scope: s}
	m := &GPT{name: s.name("GPT"), config: c, params: s.params}
	m.tokens = part(&parts, "transformer.wte", newEmbeddingLike, c.table(c.VocabSize))
	m.positions = part(&parts, "transformer.wpe", newEmbeddingLike, c.table(c.ContextLength))
	m.blocks = stack(&parts, "transformer.h", c.NumLayers, newBlock, c.block())
	m.norm = part(&parts, "transformer.ln_f", newNorm, c.norm())
	m.head = m.tokens
	if !c.TieWordEmbeddings {
		m.head = part(&parts, "lm_head", newEmbeddingLike, c.table(c.VocabSize))
	}
	return done(&parts, m)
}

// Params returns the set of parameters that the model was made in.
func (m *GPT) Params() *Params { return m.params }

// Config returns the config that the model was made from.
func (m *GPT) Config() GPTConfig { return m.config }

// Forward maps ids, int or int64 (B, T) or (T), to logits (…, T, V). The build's
// Calls("transformer.h.*.attn") have the attention weights (…, H, T, T), a call for each block.
func (m *GPT) Forward(b *Build, ids *G.Node) (*G.Node, error) {
	f := begin(b, m.name)
	return f.result(m.score(f, m.vectors(f, ids))) // (…, T, V)
}

// Next maps ids, int or int64 (B, T) or (T), to the logits (…, V) of the token that follows the last one. They are the
// last row of Forward's, which it does not compute as a whole.
func (m *GPT) Next(b *Build, ids *G.Node) (*G.Node, error) {
	f := begin(b, m.name)
	return f.result(m.score(f, f.Of(graph.LastRow(m.vectors(f, ids))))) // (…, V)
}

// Loss returns the mean cross entropy of the logits for ids, in nats: a scalar. targets are
// ids of the same shape; a target that is graph.IgnoreTarget does not count. If there are many
// logits, they are not all in memory at once; see graph.LinearCrossEntropy.
func (m *GPT) Loss(b *Build, ids, targets *G.Node) (*G.Node, error) {
	f := begin(b, m.name)
	x := m.vectors(f, ids) // (…, T, E)
	c := f.gradientsAlong(m.head.weight)
	return f.result(f.Of(graph.LinearCrossEntropy(x, f.node(m.head.weight), targets, c)))
}

// vectors returns the vectors (…, T, E) from which the scores are computed, of ids from the
// first position on.
func (m *GPT) vectors(f *formula, ids *G.Node) *G.Node {
	if !f.isIDs("ids", ids, m.config.ContextLength) {
		return f.Of(nil, nil)
	}
	positions := f.Of(graph.Rows(f.node(m.positions.weight), 0, last(ids))) // (T, E)
	return m.transform(f, ids, positions, nil, nil)
}

// transform returns the vectors (…, T, E) from which the scores are computed.
func (m *GPT) transform(f *formula, ids, positions, start *G.Node, cache GPTCache) *G.Node {
	tokens := m.tokens.apply(f, ids)        // (…, T, E)
	x := f.Of(graph.Add(tokens, positions)) // (…, T, E)
	x = f.dropout(x, m.config.EmbeddingDropout)
	for i, block := range m.blocks {
		in := AttentionInput{Query: x}
		if cache != nil {
			in.Cache, in.Start = cache[i], start
		}
		x = f.Of(block.Forward(f.b, in))
	}
	return f.Of(m.norm.Forward(f.b, x))
}

// score returns the logits (…, V) of vectors (…, E).
func (m *GPT) score(f *formula, x *G.Node) *G.Node {
	return f.Of(f.b.precision.Linear(x, f.node(m.head.weight), nil))
}
