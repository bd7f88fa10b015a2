// Package generate continues a prompt token by token: it runs a language model on the text so far and draws the next
// token from the scores. A Generator continues one text, and a Batch several. New makes a Generator of a
// layers.Decoder; Prompt reads tokens, and each call of Next draws one. The graphs for the lengths that occur are built
// inside.
//
// Letters in shapes: B texts, T tokens of a chunk, V vocabulary.
package generate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"attention/graph"
	"attention/internal/config"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// Generator is a Batch of one text, which may also be rewritten. It must not be used by several goroutines at once.
type Generator struct{ batch *Batch }

// ErrFull is the error if another token does not fit: all positions of the model, or the capacity of its cache, are
// used, and Config.Slide is not set.
var ErrFull = errors.New("the context is full")

// New returns a generator of a decoder with a cache.
func New(m *layers.Decoder, c Config) (*Generator, error) {
	b, err := NewBatch(m, 1, c)
	if err != nil {
		return nil, err
	}
	return &Generator{b}, nil
}

// Model is a language model, such as layers.Decoder and chapter.LanguageModel.
type Model interface {
	Params() *layers.Params
	Forward(b *layers.Build, ids *G.Node) (*G.Node, error) // maps ids, int (T), to logits (T, V)
}

// NewWithoutCache returns a generator that runs the whole model for each token, on the last T = context tokens of a
// text of any length. Fewer tokens are padded at the end, which a causal model does not see; a model that is not causal
// needs a prompt of at least context tokens. The config's Capacity must be 0, and Slide is not used.
func NewWithoutCache(m Model, context int, c Config) (*Generator, error) {
	if c.Capacity != 0 {
		return nil, fmt.Errorf("generate: %w",
			config.Errorf(c, "Capacity", "got %d, want 0 without a cache", c.Capacity))
	}
	if v := reflect.ValueOf(m); m == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, errors.New("generate: model: got nil, want one")
	}
	if context < 1 {
		return nil, fmt.Errorf("generate: context: got %d, want at least 1", context)
	}
	b := emptyBatch(m.Params(), 1, context)
	b.left = context
	err := b.init(context, c, func(b *layers.Build, in layers.Inputs) []*G.Node {
		logits := b.Of(m.Forward(b, in["ids"]))
		if s := logits.Shape(); b.Err() == nil && (s.Dims() != 2 || s[0] != context) {
			logits = b.Of(nil, fmt.Errorf("forward: logits: shape %v, want (T=%d, V)", s, context))
		}
		return b.Nodes(graph.Embedding(logits, in["rows"]))
	})
	if err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	return &Generator{b}, nil
}

// Batch returns the generator's text as a batch of one.
func (g *Generator) Batch() *Batch { return g.batch }

// Prompt adds tokens to the text: the prompt, and more tokens after drawn ones. It is an error
// to add no token, an id that the model does not have or, without Config.Slide, more tokens
// than fit (ErrFull). An error changes nothing.
func (g *Generator) Prompt(ctx context.Context, ids []int) error {
	return g.batch.Prompt(ctx, [][]int{ids})
}

// Next draws the next token and adds it to the text. The error wraps ErrFull if the previous
// token does not fit, and the context's error if the context is done. It may also be about a
// score that is NaN or +∞.
func (g *Generator) Next(ctx context.Context) (int, error) {
	var drawn [1]int
	err := g.batch.next(ctx, drawn[:])
	return drawn[0], err
}

// Take yields at most n tokens of Next. It stops before a token in ends, and after an error.
func (g *Generator) Take(ctx context.Context, n int, ends ...int) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for range n {
			id, err := g.Next(ctx)
			if err == nil && slices.Contains(ends, id) || !yield(id, err) || err != nil {
				return
			}
		}
	}
}

// Rewrite replaces the text by these tokens. It keeps the common prefix of both and reads only the tokens after it, at
// least the last one: so each turn of a conversation costs only its new tokens. It returns the number of kept tokens.
// The random stream continues. Rewrite returns the errors of Prompt. After an error the text is only the kept tokens,
// and needs more tokens before the next draw.
func (g *Generator) Rewrite(ctx context.Context, ids []int) (kept int, err error) {
	if err := g.batch.check(ctx, [][]int{ids}); err != nil {
		return 0, err
	}
	t, left := &g.batch.texts[0], 0
	for left < min(len(ids)-1, len(t.ids)) && ids[left] == t.ids[left] {
		left++
	}
	switch {
	case g.batch.cache == nil:
		left, t.read = 0, 0
	case left < t.read && g.batch.onward:
		t.read = 0
	}
	kept = min(left, t.read)
	t.ids, t.read, t.logits = t.ids[:left], kept, nil
	t.sampler.forget()
	t.sampler.see(t.ids...)
	return kept, g.batch.add(ctx, [][]int{ids[left:]})
}

// Logits returns the scores (V) that the last token was drawn from or, after Prompt, that the
// next token will be drawn from; nil before the first prompt. The next call of Prompt or Next
// overwrites them.
func (g *Generator) Logits() []float64 { return g.batch.Logits(0) }

// Reset removes the text and restarts the random stream, as after New. Compiled graphs stay.
func (g *Generator) Reset() { g.batch.Reset() }

// Memory is the memory of a generator, in bytes.
type Memory struct {
	Weights int // all parameters, which other models may share
	Cache   int // keys and values
	Graphs  int // intermediate values of the graphs compiled so far, which share their memory
}

// Memory returns the generator's present memory.
func (g *Generator) Memory() Memory { return g.batch.Memory() }
