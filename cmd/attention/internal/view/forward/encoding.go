package forward

import (
	"context"
	"errors"

	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/layers"
	"attention/train/pretrained"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// encoding is an encoder, which expects no next token.
type encoding struct{ *pretrained.Encoder }

// openEncoding is openNetwork for an encoder; ok is false for another model.
func openEncoding(in *models.Inspection, base string) (n network, notes []string, ok bool, err error) {
	if in.Kind != settings.EncoderModel && !models.IsEncoder(in.Dir) {
		return nil, nil, false, nil
	}
	e, notes, err := models.OpenEncoder(in.Dir, base)
	return encoding{e}, notes, true, err
}

func (m encoding) params() *layers.Params { return m.Params }
func (m encoding) most() int              { return m.Sentence.MaxLength }
func (m encoding) example() string        { return "The attention of each word is what it looks at." }

func (m encoding) String() string {
	c := m.Model.Config()
	return settings.ModelConfig{Encoder: &c}.String()
}

// read reads a text, which is cut at its end if it is too long.
func (m encoding) read(given string, then []int) (reading, error) {
	if len(then) > 0 {
		return nil, errors.New("then: got tokens, want none: an encoder writes none")
	}
	ids, err := m.IDs(given)
	return &encodedText{model: m, text: given, ids: ids}, err
}

// encodedText is a text that an encoder reads.
type encodedText struct {
	model encoding
	text  string
	ids   []int
	input *G.Node
}

// build returns the vectors of the tokens in place of logits.
func (t *encodedText) build(b *layers.Build) *G.Node {
	t.input = b.InputOf(tensor.Int, "ids", len(t.ids))
	return b.Of(t.model.Model.Forward(b, layers.EncoderInput{IDs: t.input}))
}

func (t *encodedText) place(string) place { return place{} }

func (t *encodedText) hide(b *layers.Build, positions []int) error {
	hideKeys(b, positions, 0, len(t.ids), "*")
	return checkPositions(positions, len(t.ids))
}

func (t *encodedText) run(ctx context.Context, f *passGraph, l *Pass) error {
	if err := let(t.input, t.ids); err != nil {
		return err
	}
	tokens := make([]Token, len(t.ids))
	for i, id := range t.ids {
		tokens[i] = Token{ID: id, Text: t.model.Tokenizer.Token(id)}
	}
	l.Whole, l.Sequences, l.Next = t.text, []Sequence{{"text", tokens}}, [][]Candidate{}
	return f.machine.Run(ctx)
}
