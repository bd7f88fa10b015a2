package pretrained

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"attention/internal/dense"
	"attention/internal/safetensors"
	"attention/layers"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Embedder makes vectors of texts with an encoder. Only one goroutine at a time may use it; Encoder.Embedder makes
// another over the same parameters.
type Embedder struct {
	encoder *Encoder
	f       *layers.Func
}

// The largest number of tokens of a batch, padding included, and of graphs that an Embedder keeps.
const (
	batchTokens = 2048
	keptGraphs  = 16
)

// Embedder returns an Embedder over the model's parameters.
func (e *Encoder) Embedder() (*Embedder, error) {
	if e.Model == nil {
		return nil, errors.New("pretrained: embedder: got an Encoder without a Model, want one")
	}
	f, err := e.newFunc(func(b *layers.Build, in layers.EncoderInput) (*G.Node, error) {
		return e.Model.Embedding(b, in, e.Sentence.Pooling, e.Sentence.Normalize)
	})
	if err != nil {
		return nil, fmt.Errorf("pretrained: embedder: %w", err)
	}
	return &Embedder{e, f}, nil
}

// IDs returns the ids of a text, including those that the template puts around it. A text that is too long is truncated
// at its end.
func (e *Encoder) IDs(text string) ([]int, error) {
	if e.Tokenizer == nil {
		return nil, errors.New("pretrained: encoder: got no tokenizer, want one")
	}
	ids, err := e.Tokenizer.Encode(text)
	if err != nil {
		return nil, err
	}
	around := len(e.Tokenizer.WithTemplate(nil))
	return e.Tokenizer.WithTemplate(ids[:min(len(ids), max(e.Sentence.MaxLength-around, 0))]), nil
}

// Embed returns a vector of E numbers for each text. Texts of similar length are computed together. The error for a text
// names its index.
func (e *Embedder) Embed(ctx context.Context, texts ...string) ([][]float32, error) {
	if ctx == nil {
		return nil, errors.New("pretrained: embed: context: got nil, want one")
	}
	all := make([]text.Encoding, len(texts))
	for i, s := range texts {
		ids, err := e.encoder.IDs(s)
		if err != nil {
			return nil, fmt.Errorf("pretrained: embed: text %d: %w", i, err)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		all[i].IDs = ids
	}
	vectors := make([][]float32, len(texts))
	err := e.encoder.run(ctx, e.f, all, func(i int, v []float64) { vectors[i] = safetensors.Convert[float32](v) })
	if err != nil {
		return nil, fmt.Errorf("pretrained: embed: %w", err)
	}
	return vectors, nil
}

// newFunc returns a function of the inputs ids, lengths and, if the model has them, types.
func (e *Encoder) newFunc(formula func(b *layers.Build, in layers.EncoderInput) (*G.Node, error)) (*layers.Func, error) {
	return layers.NewFunc(e.Params, func(b *layers.Build, in layers.Inputs) []*G.Node {
		return b.Nodes(formula(b, layers.EncoderInput{IDs: in["ids"], Types: in["types"], Lengths: in["lengths"]}))
	}, layers.FuncConfig{Graphs: keptGraphs})
}

// run computes a function of texts, texts of similar length together, and calls keep with each text's row of the result.
// Texts without types are all of type 0.
func (e *Encoder) run(ctx context.Context, f *layers.Func, all []text.Encoding, keep func(i int, row []float64)) error {
	most, order := e.Model.Config().ContextLength, make([]int, len(all))
	for i, text := range all {
		if n := len(text.IDs); n == 0 || n > most {
			return fmt.Errorf("text %d: got %d tokens, want 1 to %d", i, n, most)
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return len(all[i].IDs) - len(all[j].IDs) })
	var out []*tensor.Dense
	for len(order) > 0 {
		T := min(PaddedLength(len(all[order[0]].IDs)), most)
		n := 1
		for n < len(order) && len(all[order[n]].IDs) <= T && (n+1)*T <= batchTokens {
			n++
		}
		ids, types, lengths := make([]int, n*T), make([]int, n*T), make([]int, n)
		for row, i := range order[:n] {
			lengths[row] = copy(ids[row*T:], all[i].IDs)
			copy(types[row*T:], all[i].Types)
		}
		in := layers.Values{
			"ids":     tensor.New(tensor.WithShape(n, T), tensor.WithBacking(ids)),
			"lengths": tensor.New(tensor.WithShape(n), tensor.WithBacking(lengths)),
		}
		if all[order[0]].Types != nil && e.Model.Config().TypeVocabSize > 0 {
			in["types"] = tensor.New(tensor.WithShape(n, T), tensor.WithBacking(types))
		}
		var err error
		if out, err = f.CallInto(ctx, out, in); err != nil {
			return err
		}
		values := dense.Float64s(out[0])
		for row, i := range order[:n] {
			keep(i, values[row*len(values)/n:(row+1)*len(values)/n])
		}
		order = order[n:]
	}
	return nil
}

// PaddedLength returns the length to which a text of n tokens is padded: at most an eighth more, or 8.
func PaddedLength(n int) int {
	step := 8
	for step <= (n-1)/8 {
		step *= 2
	}
	return (n + step - 1) / step * step
}

// Cosine returns the cosine of the angle between two vectors: 0 if one of them is zero, NaN if their lengths differ.
func Cosine(x, y []float32) float64 {
	if len(x) != len(y) {
		return math.NaN()
	}
	var product, xx, yy float64
	for i, v := range x {
		product += float64(v) * float64(y[i])
		xx += float64(v) * float64(v)
		yy += float64(y[i]) * float64(y[i])
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return product / math.Sqrt(xx*yy)
}
