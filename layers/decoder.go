package layers

import (
	"fmt"

	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// Decoder is a language model of one stack of blocks: embeddings of tokens, blocks, a last norm, and the scores of the
// next token. Depending on its config it is GPT-2, Llama or a similar model.
type Decoder struct {
	name              string // in errors
	config            DecoderConfig
	params            *Params
	tokens, positions *Embedding // positions is nil without LearnedPositions
	blocks            []*Block
	norm              *Norm
	head              *Embedding // of the scores: the token embeddings, if they are tied
}

// NewDecoder makes the parameters, which are named by the layout:
//
//	Llama  model.embed_tokens.weight (V, E), model.layers.0 … of Block, model.norm, lm_head.weight (V, E)
//	GPT2   transformer.wte.weight (V, E), transformer.h.0 … of Block, transformer.ln_f, lm_head.weight (V, E)
//
// without the last one if TieWordEmbeddings. LearnedPositions adds model.embed_positions.weight or
// transformer.wpe.weight (ContextLength, E) after the token embeddings. Embeddings and head are drawn from a normal
// distribution with the deviation 0.02.
func NewDecoder(s Scope, c DecoderConfig) (*Decoder, error) {
	return checked(s, "Decoder", c, newDecoder)
}

func newDecoder(s Scope, given DecoderConfig) (*Decoder, error) {
	c := given.resolved()
	if c.Initializer == TorchInitializer {
		defer s.beginAsTorch(c.Blocks[0].Attention.resolved().projected())()
	}
	at, parts := c.Layout.names(), maker{scope: s}
	m := &Decoder{name: s.name("Decoder"), config: given.clone(), params: s.params}
	m.tokens = part(&parts, at.tokens, newEmbedding, c.table(c.VocabSize))
	if c.LearnedPositions {
		m.positions = part(&parts, at.positions, newEmbedding, c.table(c.ContextLength))
	}
	for i := range c.NumLayers {
		m.blocks = append(m.blocks, part(&parts, fmt.Sprintf("%s.%d", at.blocks, i), newBlock, c.Block(i)))
	}
	m.norm = part(&parts, at.lastNorm, newNorm, c.Norm)
	m.head = m.tokens
	if !c.TieWordEmbeddings {
		m.head = part(&parts, at.head, newEmbedding, c.table(c.VocabSize))
	}
	if parts.err == nil { // both may get an adapter
		of := linearMap{extra: true, table: true}
		if s.params.linear[m.head.weight.name] = (linearMap{extra: true}); c.TieWordEmbeddings {
			of.head = s.join(at.head + ".weight")
		}
		s.params.linear[m.tokens.weight.name] = of
	}
	return done(&parts, m)
}

// Params returns the set that contains the model's parameters.
func (m *Decoder) Params() *Params { return m.params }

// Config returns the config that the model was made from.
func (m *Decoder) Config() DecoderConfig { return m.config.clone() }

// Forward maps ids, int or int64 (B, T) or (T), to logits (…, T, V). The build's
// Calls("model.layers.*.self_attn"), or Calls("transformer.h.*.attn") in the layout GPT2, have the
// attention weights (…, H, T, T), a call for each block.
func (m *Decoder) Forward(b *Build, ids *G.Node) (*G.Node, error) {
	f := begin(b, m.name)
	return f.result(m.score(f, m.vectors(f, ids))) // (…, T, V)
}

// Next maps ids, int or int64 (B, T) or (T), to the logits (…, V) of the token that follows the last one. They equal
// the last row of Forward's logits, without the cost of the other rows.
func (m *Decoder) Next(b *Build, ids *G.Node) (*G.Node, error) {
	f := begin(b, m.name)
	return f.result(m.score(f, f.Of(graph.LastRow(m.vectors(f, ids))))) // (…, V)
}

// NextAt maps ids, int or int64 (T), to the logits (N, V) of the tokens that follow those at rows, int or int64 (N),
// from 0 to T−1.
func (m *Decoder) NextAt(b *Build, ids, rows *G.Node) (*G.Node, error) {
	f := begin(b, m.name)
	return f.result(m.score(f, f.Of(graph.Embedding(m.vectors(f, ids), rows)))) // (N, V)
}

// Loss returns the mean cross entropy of the logits for ids, in nats: a scalar. targets are ids of the same shape; a
// target that is graph.IgnoreTarget does not count. Many logits are computed in chunks, so that they are never all in
// memory; see graph.LinearCrossEntropy.
func (m *Decoder) Loss(b *Build, ids, targets *G.Node) (*G.Node, error) {
	f := begin(b, m.name)
	return f.result(m.loss(f, m.vectors(f, ids), targets))
}

// loss returns the mean cross entropy of vectors (…, T, E).
func (m *Decoder) loss(f *formula, x, targets *G.Node) *G.Node {
	c := f.gradientsAlong(m.head.weight)
	c.Scale, c.Softcap = m.config.LogitScale, m.config.LogitSoftcap
	x, weight := f.beside(x, m.head.weight)
	return f.Of(graph.LinearCrossEntropy(x, weight, targets, c))
}

// vectors returns the vectors (…, T, E) from which the scores are computed, for ids whose first position is position 0.
func (m *Decoder) vectors(f *formula, ids *G.Node) *G.Node {
	if !f.isIDs("ids", ids, m.config.ContextLength) {
		return f.Of(nil, nil)
	}
	var positions *G.Node
	if m.positions != nil {
		positions = f.Of(graph.Rows(f.node(m.positions.weight), 0, last(ids))) // (T, E)
	}
	return m.transform(f, ids, positions, func(int) AttentionInput { return AttentionInput{} })
}

// transform returns the vectors (…, T, E) from which the scores are computed. positions is nil without learned
// positions. beside returns the inputs of the attention of layer i other than its query.
func (m *Decoder) transform(f *formula, ids, positions *G.Node, beside func(i int) AttentionInput) *G.Node {
	x := f.stage("tokens", m.rowText(f), f.scale(m.tokens.apply(f, ids), m.config.EmbeddingScale)) // (…, T, E)
	if positions != nil {
		f.stage("positions", "row of "+short(m.positions.weight), positions)
		x = f.stage("embedded", "tokens + positions", f.Of(graph.Add(x, positions))) // (…, T, E)
	}
	x = f.dropout(x, m.config.EmbeddingDropout)
	for i, block := range m.blocks {
		in := beside(i)
		in.Query = x
		x = f.Of(block.Forward(f.b, in))
	}
	return f.normed(m.norm, "last norm", "after mlp", x)
}

// rowText returns the formula of the vectors of tokens.
func (m *Decoder) rowText(f *formula) string {
	text := "row of " + short(m.tokens.weight) + f.adapterText(m.tokens.weight)
	if scale := m.config.EmbeddingScale; scale != 0 && scale != 1 {
		text += fmt.Sprintf(", times %v", scale)
	}
	return text
}

// score returns the logits (…, V) of vectors (…, E).
func (m *Decoder) score(f *formula, x *G.Node) *G.Node {
	logits := f.scale(f.linear(x, m.head.weight, Param{}, false), m.config.LogitScale)
	if m.config.LogitSoftcap > 0 {
		logits = f.Of(graph.Softcap(logits, m.config.LogitSoftcap))
	}
	return f.stage("logits", m.logitText(f), logits)
}

// logitText returns the formula of score.
func (m *Decoder) logitText(f *formula) string {
	text := f.linearText("last norm", m.head.weight, Param{}, false)
	if scale := m.config.LogitScale; scale != 0 && scale != 1 {
		text += fmt.Sprintf("·%v", scale)
	}
	if c := m.config.LogitSoftcap; c > 0 {
		text = fmt.Sprintf("%v·tanh(%s / %v)", c, text, c)
	}
	return text
}
