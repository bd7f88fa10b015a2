package pretrained

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"attention/internal/dense"
	"attention/layers"

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
	f, err := layers.NewFunc(e.Params, func(b *layers.Build, in layers.Inputs) []*G.Node {
		return b.Nodes(e.Model.Embedding(b, layers.EncoderInput{IDs: in["ids"], Lengths: in["lengths"]},
			e.Sentence.Pooling, e.Sentence.Normalize))
	}, layers.FuncConfig{Graphs: keptGraphs})
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
	if e.Sentence.Lowercase {
		text = strings.ToLower(strings.ReplaceAll(text, "İ", "i\u0307")) // as tokenizers' Lowercase does
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
	most := e.encoder.Model.Config().ContextLength
	all, order := make([][]int, len(texts)), make([]int, len(texts))
	for i, s := range texts {
		ids, err := e.encoder.IDs(s)
		if err != nil {
			return nil, fmt.Errorf("pretrained: embed: text %d: %w", i, err)
		}
		if n := len(ids); n == 0 || n > most {
			return nil, fmt.Errorf("pretrained: embed: text %d: got %d tokens, want 1 to %d", i, n, most)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		all[i], order[i] = ids, i
	}
	slices.SortStableFunc(order, func(i, j int) int { return len(all[i]) - len(all[j]) })
	vectors := make([][]float32, len(texts))
	var out []*tensor.Dense
	for len(order) > 0 {
		T := min(PaddedLength(len(all[order[0]])), most)
		n := 1
		for n < len(order) && len(all[order[n]]) <= T && (n+1)*T <= batchTokens {
			n++
		}
		ids, lengths := make([]int, n*T), make([]int, n)
		for row, i := range order[:n] {
			lengths[row] = copy(ids[row*T:], all[i])
		}
		var err error
		out, err = e.f.CallInto(ctx, out, layers.Values{
			"ids":     tensor.New(tensor.WithShape(n, T), tensor.WithBacking(ids)),
			"lengths": tensor.New(tensor.WithShape(n), tensor.WithBacking(lengths)),
		})
		if err != nil {
			return nil, fmt.Errorf("pretrained: embed: %w", err)
		}
		width := out[0].Shape()[1]
		for row, i := range order[:n] {
			vectors[i] = dense.Float32s(out[0], row*width, (row+1)*width)
		}
		order = order[n:]
	}
	return vectors, nil
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
