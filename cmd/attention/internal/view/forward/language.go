package forward

import (
	"context"
	"errors"
	"fmt"

	"attention/cmd/attention/internal/run/models"
	"attention/graph"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// language is a model that continues a text: a GPT, or a model with a layer of the chapter.
type language struct{ *models.OpenModel }

func (m language) params() *layers.Params { return m.Model.Params() }
func (m language) String() string         { return m.Model.String() }
func (m language) most() int              { return m.Model.Context() }

// example returns a sentence. If the tokenizer lacks a token of it, example returns the text of the tokenizer's first
// tokens.
func (m language) example() string {
	const sentence = "The attention of each word is what it looks at."
	if _, err := m.Tokenizer.Encode(sentence); err == nil {
		return sentence
	}
	ids := make([]int, min(m.Tokenizer.Len(), m.most(), 16))
	for i := range ids {
		ids[i] = i
	}
	text, err := m.Tokenizer.Decode(ids)
	if err != nil {
		return sentence
	}
	return text
}

func (m language) read(text string, then []int) (reading, error) {
	ids, err := m.Encode(text)
	if err != nil {
		return nil, err
	}
	for _, id := range then {
		if id < 0 || id >= m.Tokenizer.Len() {
			return nil, fmt.Errorf("then: got token %d, want 0 to %d", id, m.Tokenizer.Len()-1)
		}
	}
	if ids = append(ids, then...); len(ids) == 0 {
		return nil, errors.New("text: got none, want some to look at")
	}
	if len(then) > 0 {
		if text, err = m.Tokenizer.Decode(ids); err != nil {
			return nil, err
		}
	}
	t := &languageText{model: m, text: text, ids: ids}
	if t.cut = max(len(ids)-m.most(), 0); t.cut > 0 {
		t.ids = ids[t.cut:]
	}
	return t, nil
}

// languageText is a text of a language model.
type languageText struct {
	model language
	text  string
	ids   []int
	cut   int // number of earlier tokens, which the model does not see
	input *G.Node
	rows  *G.Node // (N) the tokens whose next tokens build scores; nil for the last token only
	of    int     // N; 0 for the last one
}

// operandsOf is a network with one layer of a type other than layers.Attention.
type operandsOf interface {
	Operands(b *layers.Build, ids *G.Node) (layers.AttentionOperands, error)
}

// nexter is a network that can compute the logits of the last token alone, or of a few tokens.
type nexter interface {
	Next(b *layers.Build, ids *G.Node) (*G.Node, error)
	NextAt(b *layers.Build, ids, rows *G.Node) (*G.Node, error)
}

func (t *languageText) build(b *layers.Build) *G.Node {
	t.input = b.InputOf(tensor.Int, "ids", len(t.ids))
	network := t.model.Model.Network
	of, ok := network.(nexter)
	switch {
	case t.of > 0 && ok:
		t.rows = b.InputOf(tensor.Int, "rows", t.of)
		return b.Of(of.NextAt(b, t.input, t.rows))
	case t.of > 0:
		t.rows = b.InputOf(tensor.Int, "rows", t.of)
		return b.Of(graph.Embedding(b.Of(network.Forward(b, t.input)), t.rows))
	case ok:
		return b.Of(of.Next(b, t.input))
	}
	return b.Of(graph.LastRow(b.Of(network.Forward(b, t.input))))
}

func (t *languageText) operands(b *layers.Build) (o layers.AttentionOperands, ok bool, err error) {
	of, ok := t.model.Model.Network.(operandsOf)
	if ok {
		o, err = of.Operands(b, t.input)
	}
	return o, ok, err
}

func (t *languageText) place(string) place { return place{} }

func (t *languageText) hide(b *layers.Build, positions []int) error {
	hideKeys(b, positions, 0, len(t.ids), "*")
	return checkPositions(positions, len(t.ids))
}

func (t *languageText) run(ctx context.Context, f *passGraph, l *Pass) error {
	if err := let(t.input, t.ids); err != nil {
		return err
	}
	if err := f.machine.Run(ctx); err != nil {
		return err
	}
	tokens, err := tokensOf(t.model.Tokenizer, t.ids)
	if err != nil {
		return err
	}
	l.Whole, l.Sequences, l.Cut = t.text, []Sequence{{"text", tokens}}, t.cut
	return l.expect(f.expected(t.model.Tokenizer, 0))
}
