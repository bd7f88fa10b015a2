package layers

import (
	"fmt"

	"attention/graph"
	"attention/internal/torchrand"

	G "gorgonia.org/gorgonia"
)

// Classifier classifies texts: a linear map, without a bias, of a decoder's state at a text's last token.
type Classifier struct {
	decoder *Decoder
	head    *Embedding
}

// NewClassifier adds the parameter score.weight (classes, E) to those of a decoder, named as in transformers' models
// for sequence classification and drawn from a normal distribution with the deviation 0.02. Call it before
// Params.AddLoRA, whose Whole may name this parameter.
func NewClassifier(m *Decoder, classes int, seed int64) (*Classifier, error) {
	if m == nil {
		return nil, fmt.Errorf("layers: Classifier: got nil, want a decoder")
	}
	if classes < 2 {
		return nil, fmt.Errorf("layers: Classifier: got %d classes, want at least 2", classes)
	}
	defer m.params.adding(seed)()
	head, err := newEmbedding(m.params.Scope("score"), m.config.table(classes))
	if err != nil {
		return nil, err
	}
	return &Classifier{m, head}, nil
}

// adding makes new parameters start at 0, even in a set whose values Keep sets. It returns a function that ends this.
func (p *Params) adding(seed int64) (end func()) {
	start, random := p.start, p.random
	if p.start != declared || len(p.values) > 0 {
		p.start = drawn
	}
	p.random = torchrand.New(uint64(seed))
	return func() { p.start, p.random = start, random }
}

// Scores maps ids, int or int64 (B, T) or (T), to the scores (…, C) of the classes of texts that end with the last id.
func (c *Classifier) Scores(b *Build, ids *G.Node) (*G.Node, error) {
	f := begin(b, c.decoder.name)
	return f.result(c.score(f, f.Of(graph.LastRow(c.decoder.vectors(f, ids)))))
}

// PackedScores maps ids (B, T) of rows that hold several texts to the scores (B, T, C) of each token as the last one of
// its text; see Decoder.PackedLoss.
func (c *Classifier) PackedScores(b *Build, ids *G.Node, p Packing) (*G.Node, error) {
	f := begin(b, c.decoder.name)
	return f.result(c.score(f, c.decoder.packedVectors(f, ids, p)))
}

func (c *Classifier) score(f *formula, x *G.Node) *G.Node {
	return f.Of(f.b.precision.Linear(x, f.node(c.head.weight), nil))
}

// PackedLoss returns the mean cross entropy of the classes of texts, in nats: a scalar. targets (B, T) are the classes
// at the last token of each text and graph.IgnoreTarget elsewhere; see Decoder.PackedLoss.
func (c *Classifier) PackedLoss(b *Build, ids, targets *G.Node, p Packing) (*G.Node, error) {
	f := begin(b, c.decoder.name)
	x := c.decoder.packedVectors(f, ids, p)
	return f.result(f.Of(graph.LinearCrossEntropy(x, f.node(c.head.weight), targets, f.gradientsAlong(c.head.weight))))
}
