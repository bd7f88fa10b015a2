package generate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"attention/graph"
	"attention/layers"
)

// Batch continues several texts at once. A pass over the weights, which takes most of the time of a token, serves a
// token of each text; prompts share the passes, too. Text i has the scores that a Generator would give it, up to
// rounding, and draws from them like a Generator with the seed Config.Seed + i. A Batch is for one goroutine at a time.
type Batch struct {
	model    *layers.Decoder
	cache    layers.DecoderCache
	capacity int
	slide    bool
	states   bool // whether the model has linear attention, whose states cannot go back in a text
	products graph.Precision
	texts    []batchText
	chunks   keptChunks[*batchChunk]
}

// batchText is one text of a batch.
type batchText struct {
	ids     []int // the part that the model sees, and what it has not read yet
	read    int   // how many of ids it has read
	logits  []float64
	sampler *sampler
	stopped bool

	next   []float64 // logits of a reading that is not over
	scored bool      // next is set
	slid   bool      // the reading has dropped the beginning of the text
}

// NewBatch returns a batch of n texts.
func NewBatch(m *layers.Decoder, n int, c Config) (*Batch, error) {
	if n < 1 {
		return nil, fmt.Errorf("generate: texts: got %d, want at least 1", n)
	}
	size, err := c.cacheOf(m, n)
	if err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	vocab := m.Config().VocabSize
	if err := c.validate(vocab); err != nil {
		return nil, err
	}
	cache, err := m.NewCache(size)
	if err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	linear := func(b layers.BlockConfig) bool { return b.Linear != nil }
	g := &Batch{model: m, cache: cache, capacity: size.Capacity, slide: c.Slide, products: c.Precision,
		states: slices.ContainsFunc(m.Config().Blocks, linear), texts: make([]batchText, n)}
	for i := range g.texts {
		g.texts[i].sampler = newSampler(c, vocab)
		c.Seed++
	}
	if _, err := g.chunks.of(1, g.compile); err != nil { // finds errors of the model now
		return nil, fmt.Errorf("generate: %w", err)
	}
	return g, nil
}

// Prompt adds the tokens prompts[i] to text i. The first call needs a token for each text; later ones, after drawn
// tokens, may have none. An id that the model does not have is an error, and so are, without Config.Slide, more tokens
// than fit (ErrFull). An error changes nothing.
func (g *Batch) Prompt(ctx context.Context, prompts [][]int) error {
	if err := checkContext(ctx); err != nil {
		return err
	}
	if len(prompts) != len(g.texts) {
		return fmt.Errorf("generate: prompts: got %d, want %d, one for each text", len(prompts), len(g.texts))
	}
	for i, ids := range prompts {
		if len(g.texts[i].ids)+len(ids) == 0 {
			return fmt.Errorf("generate: prompt %d: got no token, want at least one", i)
		}
		if err := checkIDs(fmt.Sprintf("prompt %d", i), ids, g.model.Config().VocabSize); err != nil {
			return err
		}
	}
	if err := g.readAll(ctx, prompts); err != nil {
		return err
	}
	for i, ids := range prompts {
		g.texts[i].sampler.see(ids...)
	}
	return nil
}

// Next draws the next token of each text and adds it; a text that Stop has ended has −1. The error wraps ErrFull if the
// previous token does not fit into a text, and the context's error if the context is done. It may also be about a score
// that is NaN or +∞.
func (g *Batch) Next(ctx context.Context) ([]int, error) {
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	if len(g.texts[0].ids) == 0 {
		return nil, errors.New("generate: got no prompt, want at least one token")
	}
	if err := g.readAll(ctx, make([][]int, len(g.texts))); err != nil {
		return nil, err
	}
	for i := range g.texts {
		if t := &g.texts[i]; !t.stopped {
			if _, err := greatest(t.logits[:t.sampler.config.VocabSize]); err != nil {
				return nil, fmt.Errorf("generate: text %d: %w", i, err)
			}
		}
	}
	drawn := make([]int, len(g.texts))
	for i := range g.texts {
		t := &g.texts[i]
		if drawn[i] = -1; t.stopped {
			continue
		}
		id, err := t.sampler.draw(t.logits)
		if err != nil {
			return nil, fmt.Errorf("generate: text %d: %w", i, err)
		}
		drawn[i], t.ids = id, append(t.ids, id)
	}
	return drawn, nil
}

// Stop ends text i: no more tokens are drawn for it until Reset. An i that is no text's is ignored.
func (g *Batch) Stop(i int) {
	if i >= 0 && i < len(g.texts) {
		g.texts[i].stopped = true
	}
}

// Logits returns the scores (V) that the last token of text i was drawn from or, after Prompt, that the next token will
// be drawn from; nil before the first prompt and for an i that is no text's. The next call of Prompt or Next overwrites
// them.
func (g *Batch) Logits(i int) []float64 {
	if i < 0 || i >= len(g.texts) {
		return nil
	}
	return g.texts[i].logits
}

// Reset forgets the texts and restarts the draws, as after NewBatch. Compiled graphs stay.
func (g *Batch) Reset() {
	g.cache.Reset()
	for i := range g.texts {
		s := g.texts[i].sampler
		s.reset()
		g.texts[i] = batchText{sampler: s}
	}
}

// Memory returns the batch's memory now.
func (g *Batch) Memory() Memory {
	p := g.model.Params()
	m := Memory{Weights: p.Bytes()}
	for _, layer := range g.cache {
		m.Cache += layer.Bytes()
	}
	for _, c := range g.chunks {
		m.Graphs += c.machine.Memory().Planned
	}
	return m
}
