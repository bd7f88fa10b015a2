package translate

import (
	"context"
	"errors"
	"io"

	"attention/graph/machine"
	"attention/internal/oneline"
	"attention/internal/tensorprint"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// translator translates batches of written dates without dropout. The encoder runs once a
// batch and the decoder once for each character of the target.
type translator struct {
	alphabets
	encoder, decoder *machine.Machine
	source, lengths  *G.Node // inputs of both
	encoded          *G.Node // (B, S, E), the encoder's output
	memory, target   *G.Node // the decoder's inputs
	logits           *G.Node // (B, T, V)
}

func (m *dateModel) newTranslator() (*translator, error) {
	b := layers.NewBuild(m.params, layers.Eval)
	t := &translator{alphabets: m.alphabets}
	t.source, t.lengths, t.target = m.inputs(b)
	t.memory = b.Input("memory", m.settings.Batch, writtenLength, m.settings.Model.Width)
	t.encoded = b.Of(m.network.Encode(b, t.source, t.lengths))
	t.logits = b.Of(m.network.Decode(b, t.target, t.memory, t.lengths))
	if b.Err() != nil {
		return nil, b.Err()
	}
	var err error
	if t.encoder, err = machine.New(t.encoded); err != nil {
		return nil, err
	}
	t.decoder, err = machine.New(t.logits)
	return t, err
}

// translateAll translates all pairs of a source that is at its start.
func (t *translator) translateAll(ctx context.Context, pairs *listedPairs) ([]string, error) {
	var all []string
	for {
		_, err := pairs.Next()
		if errors.Is(err, io.EOF) {
			return all[:len(pairs.pairs)], nil // without the empty rows
		}
		if err != nil {
			return nil, err
		}
		got, err := t.translate(ctx, pairs.out)
		if err != nil {
			return nil, err
		}
		all = append(all, got...)
	}
}

// translate chooses the likeliest character, one position after the other. Positions not
// chosen yet are 0; no earlier position sees them.
func (t *translator) translate(ctx context.Context, b *pairBatch) ([]string, error) {
	in := b.batch.Inputs
	if err := oneline.Join(G.Let(t.source, in[sourceInput]), G.Let(t.lengths, in[lengthsInput])); err != nil {
		return nil, err
	}
	if err := t.encoder.Run(ctx); err != nil {
		return nil, err
	}
	target := tensor.New(tensor.Of(tensor.Int), tensor.WithShape(in[targetInput].Shape()...))
	if err := oneline.Join(G.Let(t.memory, t.encoded.Value()), G.Let(t.target, target)); err != nil {
		return nil, err
	}
	rows, given := len(b.lengths), target.Ints()
	chosen := make([][]int, rows)
	for row := range rows {
		given[row*isoLength] = t.begin()
	}
	for at := range isoLength {
		if err := t.decoder.Run(ctx); err != nil {
			return nil, err
		}
		logits, v := tensorprint.Float64s(t.logits.Value().(*tensor.Dense)), t.logits.Shape()[2]
		for row := range rows {
			id := largest(logits[(row*isoLength+at)*v:][:t.iso.Len()])
			chosen[row] = append(chosen[row], id)
			if at+1 < isoLength {
				given[row*isoLength+at+1] = id
			}
		}
	}
	texts := make([]string, rows)
	for row, ids := range chosen {
		var err error
		if texts[row], err = t.iso.Decode(ids); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// largest returns the index of the largest number, the first of equal ones.
func largest(x []float64) int {
	at := 0
	for i, v := range x {
		if v > x[at] {
			at = i
		}
	}
	return at
}
