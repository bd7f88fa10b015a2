// Package generate continues a prompt token by token: it runs a language model on the text
// so far and draws the next token from the scores. A Generator continues one text, and a Batch
// several. New makes one of a layers.Decoder, Prompt reads tokens, and each call of Next draws one: the graphs for
// the lengths that come are built inside.
//
// Letters in shapes: B texts, T tokens of a chunk, V vocabulary.
package generate

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"attention/internal/config"
	"attention/internal/dense"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Generator holds a text in tokens, the prompt's and the drawn ones, and a model that has read
// it, so that the next token costs one token. It is for one goroutine at a time.
type Generator struct {
	params  *layers.Params
	reader  reader
	sampler *sampler
	limit   int       // every id of the text is below it
	drawn   []int     // the last drawn token, if the model has not read it yet
	logits  []float64 // (V), nil before the first prompt
}

// reader is a model with the tokens of a text that it has read.
type reader interface {
	// read makes the model read more tokens and fills logits (V) with the scores of
	// the token that follows. An error changes nothing.
	read(ctx context.Context, ids []int, logits []float64) error
	// keep truncates the text to its common prefix with the first n of ids, and the cache with it. It returns
	// both lengths: the cache may have to be shorter.
	keep(ids []int, n int) (left, known int)
	reset()
	memory() (cache, graphs int)
}

// ErrFull is the error if another token does not fit: the model has no more positions or its
// cache no more capacity, and Config.Slide is not set.
var ErrFull = errors.New("the context is full")

// New returns a generator of a decoder with a cache.
func New(m *layers.Decoder, c Config) (*Generator, error) {
	r, err := newCachedReader(m, c)
	if err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	return newGenerator(m.Params(), r, m.Config().VocabSize, c)
}

// Model is a language model, such as layers.Decoder and chapter.LanguageModel.
type Model interface {
	Params() *layers.Params
	Forward(b *layers.Build, ids *G.Node) (*G.Node, error) // maps ids, int (T), to logits (T, V)
}

// NewWithoutCache returns a generator that runs the whole model for each token, on the last
// T = context tokens of a text of any length. Fewer tokens are padded at the end, which a
// causal model does not see; for any other model the prompt must have at least context
// tokens. The config's Capacity must be 0, and Slide is not used.
func NewWithoutCache(m Model, context int, c Config) (*Generator, error) {
	if c.Capacity != 0 {
		return nil, fmt.Errorf("generate: %w",
			config.Errorf(c, "Capacity", "got %d, want 0 without a cache", c.Capacity))
	}
	if v := reflect.ValueOf(m); m == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, errors.New("generate: model: got nil, want one")
	}
	r, vocab, err := newWindowReader(m, context, c.Precision)
	if err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	return newGenerator(m.Params(), r, vocab, c)
}

func newGenerator(p *layers.Params, r reader, vocab int, c Config) (*Generator, error) {
	if err := c.validate(vocab); err != nil {
		return nil, err
	}
	return &Generator{params: p, reader: r, sampler: newSampler(c, vocab), limit: vocab}, nil
}

// Prompt adds tokens to the text: the prompt, and more tokens after drawn ones. It is an error
// to add no token, an id that the model does not have or, without Config.Slide, more tokens
// than fit (ErrFull). An error changes nothing.
func (g *Generator) Prompt(ctx context.Context, ids []int) error {
	if err := g.checkPrompt(ctx, ids); err != nil {
		return err
	}
	if err := g.read(ctx, append(g.drawn[:len(g.drawn):len(g.drawn)], ids...)); err != nil {
		return err
	}
	g.sampler.see(ids...)
	return nil
}

// checkPrompt refuses tokens that cannot be read.
func (g *Generator) checkPrompt(ctx context.Context, ids []int) error {
	if err := checkContext(ctx); err != nil {
		return err
	}
	if len(ids) == 0 {
		return errors.New("generate: prompt: got no token, want at least one")
	}
	return checkIDs("prompt", ids, g.limit)
}

// checkIDs refuses an id that a vocabulary does not have.
func checkIDs(name string, ids []int, vocab int) error {
	for i, id := range ids {
		if id < 0 || id >= vocab {
			return fmt.Errorf("generate: %s: got id %d at position %d, want 0 to %d", name, id, i, vocab-1)
		}
	}
	return nil
}

// checkContext refuses nil.
func checkContext(ctx context.Context) error {
	if ctx == nil {
		return errors.New("generate: context: got nil, want one")
	}
	return nil
}

// Rewrite makes the text these tokens. What they have in common with it from the beginning is kept, so that only what
// comes after it is read, at least the last token: a talk costs its new turns. It returns how many tokens were not read
// again. The draws continue. It returns Prompt's errors; after one only the kept tokens are left of the text, and it
// needs more of them before one is drawn.
func (g *Generator) Rewrite(ctx context.Context, ids []int) (kept int, err error) {
	if err := g.checkPrompt(ctx, ids); err != nil {
		return 0, err
	}
	left, kept := g.reader.keep(ids, len(ids)-1)
	g.drawn, g.logits = g.drawn[:0], nil
	g.sampler.forget()
	g.sampler.see(ids[:left]...)
	if err := g.read(ctx, ids[left:]); err != nil {
		return kept, err
	}
	g.sampler.see(ids[left:]...)
	return kept, nil
}

// Next draws the next token and adds it to the text. The error wraps ErrFull if the previous
// token does not fit, and the context's error if the context is done. It may also be about a
// score that is NaN or +∞.
func (g *Generator) Next(ctx context.Context) (int, error) {
	if err := checkContext(ctx); err != nil {
		return 0, err
	}
	if g.logits == nil {
		return 0, errors.New("generate: got no prompt, want at least one token")
	}
	if len(g.drawn) > 0 {
		if err := g.read(ctx, g.drawn); err != nil {
			return 0, err
		}
	}
	id, err := g.sampler.draw(g.logits)
	if err != nil {
		return 0, fmt.Errorf("generate: %w", err)
	}
	g.drawn = append(g.drawn, id)
	return id, nil
}

// read makes the model read tokens, the last drawn one among them.
func (g *Generator) read(ctx context.Context, ids []int) error {
	logits := g.logits
	if logits == nil {
		logits = make([]float64, g.limit)
	}
	if err := g.reader.read(ctx, ids, logits); err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	g.logits, g.drawn = logits, g.drawn[:0]
	return nil
}

// Logits returns the scores (V) that the last token was drawn from or, after Prompt, that the
// next token will be drawn from; nil before the first prompt. The next call of Prompt or Next
// overwrites them.
func (g *Generator) Logits() []float64 { return g.logits }

// Reset forgets the text and restarts the draws, as after New. Compiled graphs stay.
func (g *Generator) Reset() {
	g.reader.reset()
	g.sampler.reset()
	g.drawn, g.logits = nil, nil
}

// Memory is the memory of a generator, in bytes.
type Memory struct {
	Weights int // all parameters, which other models may share
	Cache   int // keys and values
	Graphs  int // intermediate values of the graphs compiled so far
}

// Memory returns the generator's memory now.
func (g *Generator) Memory() Memory {
	cache, graphs := g.reader.memory()
	return Memory{Weights: g.params.Bytes(), Cache: cache, Graphs: graphs}
}

// copyFloats copies len(dst) numbers, from element from on.
func copyFloats(dst []float64, src *tensor.Dense, from int) {
	dense.ByType(src.Dtype(), widen[float32], widen[float64])(dst, src, from)
}

func widen[F float32 | float64](dst []float64, src *tensor.Dense, from int) {
	for i, v := range dense.Floats[F](src)[from:][:len(dst)] {
		dst[i] = float64(v)
	}
}
