package dates

import (
	"context"
	"errors"
	"io"

	"attention/graph/machine"
	"attention/internal/dense"
	"attention/internal/oneline"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Translator translates batches of written dates without dropout. The encoder runs once a
// batch and the decoder once for each character of the target.
type Translator struct {
	Alphabets
	encoder, decoder *machine.Machine
	source, lengths  *G.Node // inputs of both
	encoded          *G.Node // (B, S, E), the encoder's output
	memory, target   *G.Node // the decoder's inputs
	logits           *G.Node // (B, T, V)
}

// NewTranslator builds the graphs of a translator of batches of n pairs.
func (m *Model) NewTranslator(n int) (*Translator, error) {
	b := layers.NewBuild(m.Params(), layers.Eval)
	t := &Translator{Alphabets: m.Alphabets}
	t.source, t.lengths, t.target = m.inputs(b, n)
	t.memory = b.Input("memory", n, WrittenLength, m.Config().EmbedDim)
	t.encoded = b.Of(m.Encode(b, t.source, t.lengths))
	t.logits = b.Of(m.Decode(b, t.target, t.memory, t.lengths))
	err := b.Err()
	if err != nil {
		return nil, err
	}
	if t.encoder, err = machine.New(t.encoded); err != nil {
		return nil, err
	}
	t.decoder, err = machine.New(t.logits)
	return t, err
}

// TranslateAll translates all pairs of a source that is at its start.
func (t *Translator) TranslateAll(ctx context.Context, pairs *ListedPairs) ([]string, error) {
	var all []string
	for {
		_, err := pairs.Next()
		if errors.Is(err, io.EOF) {
			return all[:len(pairs.Pairs)], nil // without the empty rows
		}
		if err != nil {
			return nil, err
		}
		got, err := t.translate(ctx, pairs.Out)
		if err != nil {
			return nil, err
		}
		all = append(all, got...)
	}
}

// translate chooses the likeliest character, one position after the other. Positions not
// chosen yet are 0; no earlier position sees them.
func (t *Translator) translate(ctx context.Context, b *Batch) ([]string, error) {
	in := b.Batch.Inputs
	if err := oneline.Join(G.Let(t.source, in[SourceInput]), G.Let(t.lengths, in[LengthsInput])); err != nil {
		return nil, err
	}
	if err := t.encoder.Run(ctx); err != nil {
		return nil, err
	}
	target := tensor.New(tensor.Of(tensor.Int), tensor.WithShape(in[TargetInput].Shape()...))
	if err := oneline.Join(G.Let(t.memory, t.encoded.Value()), G.Let(t.target, target)); err != nil {
		return nil, err
	}
	rows, given := len(b.Lengths), target.Ints()
	chosen := make([][]int, rows)
	for row := range rows {
		given[row*ISOLength] = t.Begin()
	}
	for at := range ISOLength {
		if err := t.decoder.Run(ctx); err != nil {
			return nil, err
		}
		logits, v := dense.Float64s(t.logits.Value().(*tensor.Dense)), t.logits.Shape()[2]
		for row := range rows {
			id := Largest(logits[(row*ISOLength+at)*v:][:t.ISO.Len()])
			chosen[row] = append(chosen[row], id)
			if at+1 < ISOLength {
				given[row*ISOLength+at+1] = id
			}
		}
	}
	texts := make([]string, rows)
	for row, ids := range chosen {
		var err error
		if texts[row], err = t.ISO.Decode(ids); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// Largest returns the index of the largest number, the first of equal ones.
func Largest(x []float64) int {
	at := 0
	for i, v := range x {
		if v > x[at] {
			at = i
		}
	}
	return at
}
