package dates

import (
	"context"
	"errors"
	"io"
	"slices"

	"attention/internal/dense"
	"attention/layers"
	"attention/train/tasks"

	G "gorgonia.org/gorgonia"
)

// Translator translates batches of written dates without dropout.
type Translator struct {
	Alphabets
	logits *layers.Func // (B, T, V) of the model's inputs
}

// NewTranslator makes a translator of batches of any size.
func (m *Model) NewTranslator() (*Translator, error) {
	f, err := layers.NewFunc(m.Params(), func(b *layers.Build, in layers.Inputs) []*G.Node {
		return []*G.Node{m.Logits(b, in)}
	}, layers.FuncConfig{})
	return &Translator{m.Alphabets, f}, err
}

// TranslateAll translates all pairs of a source, which must be at its start.
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
		ids, err := tasks.Greedy(pairs.Out.Target, len(pairs.Out.Lengths), func() ([]int, error) {
			logits, err := t.logits.Call(ctx, pairs.Out.Batch.Inputs)
			if err != nil {
				return nil, err
			}
			return t.Likeliest(dense.Float64s(logits[0])), nil
		})
		if err != nil {
			return nil, err
		}
		for row := range slices.Chunk(ids, ISOLength) {
			text, err := t.ISO.Decode(row)
			if err != nil {
				return nil, err
			}
			all = append(all, text)
		}
	}
}

// Likeliest returns the likeliest character of each row of logits, the first of equal ones. It never returns the mark.
func (a Alphabets) Likeliest(logits []float64) (ids []int) {
	for row := range slices.Chunk(logits, a.ISO.Len()+1) {
		at := 0
		for i, v := range row[:a.ISO.Len()] {
			if v > row[at] {
				at = i
			}
		}
		ids = append(ids, at)
	}
	return ids
}
