package generate

import (
	"context"
	"errors"
	"fmt"

	"attention/graph"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Batch continues several texts together. One pass over the weights, which is most of the time of a token, computes one
// token of each text; prompts share the passes, too. Text i has the scores of a Generator, up to rounding, and its
// draws are those of a Generator with the seed Config.Seed + i. A Batch must not be used by several goroutines at once.
type Batch struct {
	params   *layers.Params
	cache    layers.DecoderCache // nil if the whole text is read again for each token
	onward   bool                // whether the cache of a layer cannot be truncated
	capacity int                 // tokens of a text that the model sees
	left     int                 // number of them that remain when a text outgrows the capacity; 0 means ErrFull
	vocab    int                 // every id is below it
	texts    []batchText
	before   []batchText // state of the texts before a read

	// forward is a function of ids (B, T), start (B, 1), rows (B) and, with states, lengths (B). One text has ids (T),
	// start () and no lengths.
	forward *layers.Func
	values  layers.Values
	logits  []*tensor.Dense  // (B, V)
	ids     [2]*tensor.Dense // for a token of each text, and for the previous other number of tokens
	// Names of the other values. Row i is the row of the last token of text i; its length is the number of its unread
	// tokens.
	starts, rows, lengths []int
}

// batchText is one text of a batch.
type batchText struct {
	ids     []int // the part that the model sees, and the ids that it has not read yet
	read    int   // number of ids that it has read
	logits  []float64
	sampler *sampler
	stopped bool

	next   []float64 // logits of a read that is in progress
	scored bool      // next is set
	lost   bool      // the cache no longer holds the text as it was before the read
}

// NewBatch returns a batch of n texts.
func NewBatch(m *layers.Decoder, n int, c Config) (*Batch, error) {
	if n < 1 {
		return nil, fmt.Errorf("generate: texts: got %d, want at least 1", n)
	}
	g, err := newBatch(m, n, c)
	if err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	return g, nil
}

func newBatch(m *layers.Decoder, n int, c Config) (*Batch, error) {
	size, err := c.cacheOf(m, n)
	if err != nil {
		return nil, err
	}
	cache, err := m.NewCache(size) // which bounds n
	if err != nil {
		return nil, err
	}
	g := emptyBatch(m.Params(), n, size.Capacity)
	g.cache = cache
	if c.Slide {
		g.left = max(size.Capacity/2, 1)
	}
	for _, layer := range cache {
		keys, ok := layer.(*graph.KVCache)
		g.onward = g.onward || !ok || keys.Config().Rolling
		if !ok && n > 1 {
			g.values["lengths"] = ints(g.lengths, n)
		}
	}
	return g, g.init(1, c, func(b *layers.Build, in layers.Inputs) []*G.Node {
		return b.Nodes(m.ForwardCachedAt(b, in["ids"], in["start"], in["rows"], in["lengths"], cache))
	})
}

// emptyBatch returns a batch of n texts that has no formula.
func emptyBatch(p *layers.Params, n, capacity int) *Batch {
	g := &Batch{params: p, capacity: capacity, texts: make([]batchText, n),
		starts: make([]int, n), rows: make([]int, n), lengths: make([]int, n)}
	g.values = layers.Values{"start": ints(g.starts, n, 1), "rows": ints(g.rows, n)}
	if n == 1 {
		g.values["start"] = ints(g.starts)
	}
	return g
}

// init sets the config and the formula of the logits of the tokens in rows. It builds the graph for T tokens of each
// text to find errors of the formula.
func (g *Batch) init(T int, c Config, formula layers.Formula) (err error) {
	g.forward, err = layers.NewFunc(g.params, func(b *layers.Build, in layers.Inputs) []*G.Node {
		b.SetPrecision(c.Precision)
		return formula(b, in)
	}, layers.FuncConfig{})
	if err != nil {
		return err
	}
	g.window(T)
	out, err := g.forward.Prepare(g.values)
	if err != nil {
		return err
	}
	g.vocab = out[0][1]
	if err := c.validate(g.vocab); err != nil {
		return err
	}
	for i := range g.texts {
		g.texts[i].sampler = newSampler(c, g.vocab)
		c.Seed++
	}
	return nil
}

// Prompt adds the tokens prompts[i] to text i. The first call needs a token for each text; later ones, after drawn
// tokens, may have none for some of several texts. An id that the model does not have is an error, and so are, without
// Config.Slide, more tokens than fit (ErrFull). An error changes nothing.
func (g *Batch) Prompt(ctx context.Context, prompts [][]int) error {
	if err := g.check(ctx, prompts); err != nil {
		return err
	}
	return g.add(ctx, prompts)
}

// check returns an error for tokens that cannot be added to the texts.
func (g *Batch) check(ctx context.Context, prompts [][]int) error {
	if ctx == nil {
		return errNoContext
	}
	if len(prompts) != len(g.texts) {
		return fmt.Errorf("generate: prompts: got %d, want %d, one for each text", len(prompts), len(g.texts))
	}
	for i, ids := range prompts {
		if len(ids) == 0 && (len(g.texts) == 1 || len(g.texts[i].ids) == 0) {
			return g.failure(i, errors.New("prompt: got no token, want at least one"))
		}
		for at, id := range ids {
			if id < 0 || id >= g.vocab {
				return g.failure(i, fmt.Errorf("prompt: got id %d at position %d, want 0 to %d", id, at, g.vocab-1))
			}
		}
	}
	return nil
}

var errNoContext = errors.New("generate: context: got nil, want one")

// failure returns the error of text i, with the text's number if there are several.
func (g *Batch) failure(i int, err error) error {
	if len(g.texts) == 1 {
		return fmt.Errorf("generate: %w", err)
	}
	return fmt.Errorf("generate: text %d: %w", i, err)
}

// add adds tokens to the texts and makes the model read them.
func (g *Batch) add(ctx context.Context, prompts [][]int) error {
	if err := g.read(ctx, prompts); err != nil {
		return err
	}
	for i, ids := range prompts {
		g.texts[i].sampler.see(ids...)
	}
	return nil
}

// Next draws the next token of each text and adds it; for a text that Stop has ended it returns −1. The error wraps
// ErrFull if the previous token does not fit into a text, and the context's error if the context is done. It may also
// be about a score that is NaN or +∞.
func (g *Batch) Next(ctx context.Context) ([]int, error) {
	drawn := make([]int, len(g.texts))
	if err := g.next(ctx, drawn); err != nil {
		return nil, err
	}
	return drawn, nil
}

// next is Next, but writes the tokens into drawn.
func (g *Batch) next(ctx context.Context, drawn []int) error {
	if ctx == nil {
		return errNoContext
	}
	if g.texts[0].logits == nil {
		return errors.New("generate: got no prompt, want at least one token")
	}
	if err := g.read(ctx, nil); err != nil {
		return err
	}
	for i := range g.texts { // so that an error changes nothing; drawing alone changes the random stream
		if t := &g.texts[i]; i > 0 && !t.stopped {
			if _, err := greatest(t.logits[:t.sampler.config.VocabSize]); err != nil {
				return g.failure(i, err)
			}
		}
	}
	for i := range g.texts {
		t := &g.texts[i]
		if drawn[i] = -1; t.stopped {
			continue
		}
		id, err := t.sampler.draw(t.logits)
		if err != nil {
			return g.failure(i, err)
		}
		drawn[i], t.ids = id, append(t.ids, id)
	}
	return nil
}

// Stop ends text i: no tokens are drawn for it until Reset. An i out of range is ignored.
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

// Reset removes the texts and restarts the random streams, as after NewBatch. Compiled graphs stay.
func (g *Batch) Reset() {
	for i := range g.texts {
		t := &g.texts[i]
		t.sampler.reset()
		*t = batchText{sampler: t.sampler, next: t.next}
	}
}

// Memory returns the batch's present memory.
func (g *Batch) Memory() Memory {
	m := Memory{Weights: g.params.Bytes(), Graphs: g.forward.Bytes()}
	for _, layer := range g.cache {
		m.Cache += layer.Bytes()
	}
	return m
}
