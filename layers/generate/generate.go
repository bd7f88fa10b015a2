// Package generate continues a prompt token by token: it runs a language model on the text
// so far and draws the next token from the scores. A Generator continues one text, a Batch
// several.
//
// Letters in shapes: B texts, T tokens of a chunk, V vocabulary.
package generate

import (
	"context"
	"errors"
	"fmt"

	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Generator holds a text in tokens, the prompt's and those drawn, and what it takes to add
// one at the cost of one token. It is for one goroutine at a time.
type Generator struct {
	params  *layers.Params
	reader  reader
	sampler *sampler
	limit   int       // ids of the text are below it
	drawn   []int     // the last token drawn, if the model has not read it yet
	logits  []float64 // (V), nil before the first prompt
}

// reader is a model with the tokens of a text that it has read.
type reader interface {
	// read makes the model read more tokens and fills logits (V) with the scores of
	// the token that follows. An error changes nothing.
	read(ctx context.Context, ids []int, logits []float64) error
	reset()
	memory() (cache, graphs int)
}

// ErrFull is the error if another token does not fit: the model has no more positions, or
// its cache no more capacity, and Config.Slide is not set.
var ErrFull = errors.New("the context is full")

// New returns a generator of a GPT with a cache.
func New(m *layers.GPT, c Config) (*Generator, error) {
	r, err := newCachedReader(m, c)
	if err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	return newGenerator(m.Params(), r, m.Config().VocabSize, c)
}

// Model is a language model. layers.GPT and chapter.LanguageModel are.
type Model interface {
	Params() *layers.Params
	Forward(b *layers.Build, ids *G.Node) (*G.Node, error) // maps ids, int (T), to logits (T, V)
}

// NewWithoutCache returns a generator that runs the whole model for each token, on the
// last T = context tokens of the text, which may have any length. Fewer tokens are padded
// at the end, which a causal model does not see; for another model the prompt must have at
// least context tokens. Capacity of the config must be 0; Slide changes nothing.
func NewWithoutCache(m Model, context int, c Config) (*Generator, error) {
	if c.Capacity != 0 {
		return nil, fmt.Errorf("generate: Capacity: got %d, want 0 without a cache", c.Capacity)
	}
	if m == nil {
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

// Prompt adds tokens to the text. The first ones are the prompt; more may follow drawn
// tokens. No token, an id that the model does not have and, without Config.Slide, more
// tokens than fit (ErrFull) are errors. An error changes nothing.
func (g *Generator) Prompt(ctx context.Context, ids []int) error {
	if err := g.check(ctx); err != nil {
		return err
	}
	if len(ids) == 0 {
		return errors.New("generate: prompt: got no token, want at least one")
	}
	if err := checkIDs("prompt", ids, g.limit); err != nil {
		return err
	}
	return g.read(ctx, append(g.drawn[:len(g.drawn):len(g.drawn)], ids...))
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

// check refuses a generator that no constructor made, and no context.
func (g *Generator) check(ctx context.Context) error {
	if g == nil || g.reader == nil {
		return errors.New("generate: generator: got nil or its zero value, want one of New")
	}
	if ctx == nil {
		return errors.New("generate: context: got nil, want one")
	}
	return nil
}

// Next draws the next token and adds it to the text. The error is ErrFull if the one drawn
// before does not fit, the context's own if it is done, or that of the first score that is
// NaN or +∞.
func (g *Generator) Next(ctx context.Context) (int, error) {
	if err := g.check(ctx); err != nil {
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

// read makes the model read tokens, including the one drawn last.
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

// Logits returns the scores (V) that the last token was drawn from or, after Prompt, that
// the next one will be drawn from; nil before the first prompt. The next call of Prompt or
// Next overwrites them.
func (g *Generator) Logits() []float64 {
	if g == nil {
		return nil
	}
	return g.logits
}

// Reset forgets the text and restarts the draws, as after New. Compiled graphs stay.
func (g *Generator) Reset() {
	if g == nil || g.reader == nil {
		return
	}
	g.reader.reset()
	g.sampler.reset()
	g.drawn, g.logits = nil, nil
}

// Memory is the memory of a generator, in bytes.
type Memory struct {
	Weights int // all parameters, which others may share
	Cache   int // keys and values
	Graphs  int // intermediate values of the graphs compiled so far
}

// Memory returns the generator's memory now.
func (g *Generator) Memory() Memory {
	if g == nil || g.reader == nil {
		return Memory{}
	}
	cache, graphs := g.reader.memory()
	return Memory{Weights: g.params.Count() * int(g.params.Dtype().Size()), Cache: cache, Graphs: graphs}
}

// copyFloats copies len(dst) numbers, from element from on.
func copyFloats(dst []float64, src *tensor.Dense, from int) {
	switch data := src.Data().(type) {
	case []float64:
		copy(dst, data[from:])
	case []float32:
		for i, v := range data[from:][:len(dst)] {
			dst[i] = float64(v)
		}
	}
}
