package layers

import (
	"cmp"

	"attention/graph"
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// EncoderClassifierConfig configures an EncoderClassifier.
type EncoderClassifierConfig struct {
	NumLabels  int        `json:"num_labels"`           // C, at least 1
	Activation Activation `json:"activation,omitempty"` // Tanh, as in BERT, or ReLU, as in DistilBERT; zero means Tanh
	Dropout    float64    `json:"dropout,omitempty"`    // of the activated values, in Train graphs
}

func (c EncoderClassifierConfig) validate() error {
	return cmp.Or(config.AtLeast(c, 1, "NumLabels"), config.Probability(c, "Dropout"),
		config.OneOf(c, "Activation", cmp.Or(c.Activation, Tanh), Tanh, ReLU))
}

// EncoderClassifier gives texts a class: two linear maps of the vector of a text's first token, with an activation
// between the two. With one label it gives texts, or pairs of texts, a number. It is the head of transformers'
// BertForSequenceClassification and DistilBertForSequenceClassification.
type EncoderClassifier struct {
	encoder       *Encoder
	config        EncoderClassifierConfig
	dense, scores *Linear
}

// NewEncoderClassifier adds the parameters pooler.dense.weight (E, E), pooler.dense.bias, classifier.weight (C, E) and
// classifier.bias to those of an encoder, named as in BertForSequenceClassification. Weights are drawn from a normal
// distribution with the deviation 0.02, biases begin with 0. It comes before Params.AddLoRA, whose Whole may name them.
func NewEncoderClassifier(m *Encoder, c EncoderClassifierConfig, seed int64) (*EncoderClassifier, error) {
	const name = "EncoderClassifier"
	if m == nil {
		return nil, errorf(name, "got nil, want an encoder")
	}
	if err := c.validate(); err != nil {
		return nil, inLayer(name, err)
	}
	c.Activation = cmp.Or(c.Activation, Tanh)
	defer m.params.adding(seed)()
	parts := maker{scope: m.params.Scope("")}
	return done(&parts, &EncoderClassifier{m, c, m.dense(&parts, "pooler.dense", m.config.width()),
		m.dense(&parts, "classifier", c.NumLabels)})
}

// dense makes a linear map of a head, which AllLinear leaves out.
func (m *Encoder) dense(parts *maker, name string, out int) *Linear {
	c := LinearConfig{InFeatures: m.config.width(), OutFeatures: out, Bias: true, layout: BERT}
	l := part(parts, name, newLinear, c)
	if l != nil {
		m.params.linear[l.weight.name] = linearMap{extra: true}
	}
	return l
}

// Forward returns the scores (…, C) of the classes of texts.
func (c *EncoderClassifier) Forward(b *Build, in EncoderInput) (*G.Node, error) {
	f := begin(b, c.encoder.name)
	return f.result(c.logits(f, in))
}

// Loss returns the mean cross entropy of the classes of texts, in nats: a scalar. targets (…) are the classes, int or
// int64. With one label, targets (…, 1) are numbers from 0 to 1, and the loss is the mean binary cross entropy of the
// scores' sigmoids, as BinaryCrossEntropyLoss of sentence-transformers.
func (c *EncoderClassifier) Loss(b *Build, in EncoderInput, targets *G.Node) (*G.Node, error) {
	f := begin(b, c.encoder.name)
	x := c.logits(f, in)
	if c.config.NumLabels > 1 {
		return f.crossEntropy(x, targets)
	}
	return f.result(f.Of(graph.BCEWithLogits(x, targets, graph.BCEConfig{})))
}

func (c *EncoderClassifier) logits(f *formula, in EncoderInput) *G.Node {
	x := f.Of(graph.FirstRow(c.encoder.vectors(f, in)))       // (…, E)
	x = f.activated(c.config.Activation, c.dense.apply(f, x)) // (…, E)
	return c.scores.apply(f, f.dropout(x, c.config.Dropout))  // (…, C)
}

// TokenClassifierConfig configures a TokenClassifier.
type TokenClassifierConfig struct {
	NumLabels int     `json:"num_labels"`        // C, at least 2
	Dropout   float64 `json:"dropout,omitempty"` // of the vectors, in Train graphs
}

func (c TokenClassifierConfig) validate() error {
	return cmp.Or(config.AtLeast(c, 2, "NumLabels"), config.Probability(c, "Dropout"))
}

// TokenClassifier gives each token a class: a linear map of its vector. It is the head of transformers'
// BertForTokenClassification and DistilBertForTokenClassification.
type TokenClassifier struct {
	encoder *Encoder
	config  TokenClassifierConfig
	scores  *Linear
}

// NewTokenClassifier adds the parameters classifier.weight (C, E) and classifier.bias (C) to those of an encoder, named
// as in BertForTokenClassification. The weight is drawn from a normal distribution with the deviation 0.02, the bias
// begins with 0. It comes before Params.AddLoRA, whose Whole may name them.
func NewTokenClassifier(m *Encoder, c TokenClassifierConfig, seed int64) (*TokenClassifier, error) {
	const name = "TokenClassifier"
	if m == nil {
		return nil, errorf(name, "got nil, want an encoder")
	}
	if err := c.validate(); err != nil {
		return nil, inLayer(name, err)
	}
	defer m.params.adding(seed)()
	parts := maker{scope: m.params.Scope("")}
	return done(&parts, &TokenClassifier{m, c, m.dense(&parts, "classifier", c.NumLabels)})
}

// Forward returns the scores (…, T, C) of the classes of tokens.
func (c *TokenClassifier) Forward(b *Build, in EncoderInput) (*G.Node, error) {
	f := begin(b, c.encoder.name)
	return f.result(c.logits(f, c.encoder.vectors(f, in)))
}

// Loss returns the mean cross entropy of the classes of N tokens, in nats: a scalar. rows (N) are the places of the
// tokens, from 0 to B·T−1, and targets (N) their classes, both int or int64.
func (c *TokenClassifier) Loss(b *Build, in EncoderInput, rows, targets *G.Node) (*G.Node, error) {
	f := begin(b, c.encoder.name)
	return f.crossEntropy(c.logits(f, f.tokensAt(c.encoder.vectors(f, in), rows)), targets)
}

func (c *TokenClassifier) logits(f *formula, x *G.Node) *G.Node {
	return c.scores.apply(f, f.dropout(x, c.config.Dropout)) // (…, C)
}

// tokensAt returns the vectors (N, E) at rows (N) of vectors (…, E).
func (f *formula) tokensAt(x, rows *G.Node) *G.Node {
	if f.Err() != nil || !f.isNode("rows", rows) {
		return x
	}
	flat := tensor.Shape{x.Shape().TotalSize() / last(x), last(x)}
	return f.Of(graph.Embedding(f.Of(G.Reshape(x, flat)), rows))
}

// MaskedLM predicts tokens from the tokens on both sides. The scores are products with the encoder's token embeddings.
// It is the head of transformers' BertForMaskedLM and DistilBertForMaskedLM.
type MaskedLM struct {
	encoder *Encoder
	dense   *Linear
	norm    *Norm
	bias    Param
}

// NewMaskedLM adds the parameters cls.predictions.transform.dense.weight (E, E) and bias,
// cls.predictions.transform.LayerNorm and cls.predictions.bias (V) to those of an encoder, named as in BertForMaskedLM.
// The activation and the norm are as in the blocks. The first weight is drawn from a normal distribution with the
// deviation 0.02, biases begin with 0. It comes before Params.AddLoRA, whose Whole may name the parameters.
func NewMaskedLM(m *Encoder, seed int64) (*MaskedLM, error) {
	if m == nil {
		return nil, errorf("MaskedLM", "got nil, want an encoder")
	}
	if a := m.config.resolved().Block.MLP.Activation; a.gated() {
		return nil, errorf("MaskedLM", "got an encoder with the activation %q, want one of one product", a)
	}
	defer m.params.adding(seed)()
	parts, at := maker{scope: m.params.Scope("")}, "cls.predictions."
	return done(&parts, &MaskedLM{m, m.dense(&parts, at+"transform.dense", m.config.width()),
		part(&parts, at+"transform.LayerNorm", newNorm, m.config.resolved().Block.Norm),
		parts.param(at+"bias", Constant(0), m.config.VocabSize)})
}

// Forward returns the logits (…, T, V) of the tokens.
func (l *MaskedLM) Forward(b *Build, in EncoderInput) (*G.Node, error) {
	f := begin(b, l.encoder.name)
	return f.result(l.logits(f, l.encoder.vectors(f, in)))
}

// Loss returns the mean cross entropy of N tokens, in nats: a scalar. rows (N) are the places of the tokens, from 0 to
// B·T−1, and targets (N) the ids to be predicted there, both int or int64. Logits of other tokens are not computed.
func (l *MaskedLM) Loss(b *Build, in EncoderInput, rows, targets *G.Node) (*G.Node, error) {
	f := begin(b, l.encoder.name)
	return f.crossEntropy(l.logits(f, f.tokensAt(l.encoder.vectors(f, in), rows)), targets)
}

// logits returns those of vectors (…, E), as (…, V).
func (l *MaskedLM) logits(f *formula, x *G.Node) *G.Node {
	x = f.activated(l.encoder.config.resolved().Block.MLP.Activation, l.dense.apply(f, x)) // (…, E)
	return f.linear(l.norm.apply(f, x), l.encoder.tokens.weight, l.bias, false)            // (…, V)
}
