package dates

import (
	"context"
	"errors"
	"io"

	"attention/internal/dense"
	"attention/layers"
	"attention/train"

	"gorgonia.org/tensor"
)

// Translator translates batches of written dates without dropout. The encoder runs once a
// batch and the decoder once for each character of the target.
type Translator struct {
	Alphabets
	encoder *train.Predictor // from SourceInput and LengthsInput to its output (B, S, E)
	decoder *train.Predictor // from memoryInput, LengthsInput and TargetInput to logits (B, T, V)
}

// memoryInput is the decoder's input of the encoder's output.
const memoryInput = "memory"

// NewTranslator builds the graphs of a translator of batches of n pairs.
func (m *Model) NewTranslator(n int) (t *Translator, err error) {
	b := layers.NewBuild(m.Params(), layers.Eval)
	source, lengths, target := m.inputs(b, n)
	memory := b.Input(memoryInput, n, WrittenLength, m.Config().EmbedDim)
	encoded, logits := b.Of(m.Encode(b, source, lengths)), b.Of(m.Decode(b, target, memory, lengths))
	t = &Translator{Alphabets: m.Alphabets}
	if t.encoder, err = train.NewPredictor(b, encoded); err != nil {
		return nil, err
	}
	t.decoder, err = train.NewPredictor(b, logits)
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
	encoded, err := t.encoder.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	target := tensor.New(tensor.Of(tensor.Int), tensor.WithShape(in[TargetInput].Shape()...))
	values := train.Values{memoryInput: encoded[0], LengthsInput: in[LengthsInput], TargetInput: target}
	rows, given := len(b.Lengths), target.Ints()
	chosen := make([][]int, rows)
	for row := range rows {
		given[row*ISOLength] = t.Begin()
	}
	for at := range ISOLength {
		out, err := t.decoder.Run(ctx, values)
		if err != nil {
			return nil, err
		}
		logits, v := dense.Float64s(out[0]), out[0].Shape()[2]
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
