package generate

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/oneline"
	"attention/internal/stock"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// maxChunk is the most tokens that are read at once. More would be no faster.
const maxChunk = 256

// cachedReader is a GPT with a cache. It cuts a prompt into chunks whose lengths are powers
// of two, so that any number of prompts compiles at most nine graphs.
type cachedReader struct {
	model    *layers.GPT
	text     []int           // the part that the model sees
	cache    layers.GPTCache // of its first tokens; of all, unless reading has failed
	capacity int
	slide    bool
	chunks   map[int]*chunk // by their lengths
}

func newCachedReader(m *layers.GPT, c Config) (*cachedReader, error) {
	if m == nil {
		return nil, errors.New("model: got nil, want a GPT")
	}
	capacity, most := c.Capacity, m.Config().ContextLength
	if capacity < 0 || capacity > most {
		return nil, fmt.Errorf("Capacity: got %d, want 0 to ContextLength=%d", capacity, most)
	}
	if capacity == 0 {
		capacity = most
	}
	cache, err := m.NewCache(graph.KVCacheConfig{Capacity: capacity})
	if err != nil {
		return nil, err
	}
	r := &cachedReader{model: m, cache: cache, capacity: capacity, slide: c.Slide, chunks: map[int]*chunk{}}
	_, err = r.chunk(1) // finds errors of the model now
	return r, err
}

func (r *cachedReader) read(ctx context.Context, ids []int, logits []float64) error {
	text := append(r.text, ids...)
	if n := len(text); n > r.capacity {
		if !r.slide {
			return fmt.Errorf("%w: got %d tokens, want at most %d", ErrFull, n, r.capacity)
		}
		text = text[n-max(r.capacity/2, 1):]
		r.cache.Reset() // every token gets another position
	}
	begin := r.cache.Len()
	var last *chunk
	for start := begin; start < len(text); {
		n := chunkLength(len(text) - start)
		c, err := r.chunk(n)
		if err == nil {
			err = c.run(ctx, text[start:start+n], start)
		}
		if err != nil { // some layers may have the chunk, others not
			return oneline.Join(err, r.truncate(begin))
		}
		last, start = c, start+n
	}
	r.text = text
	copyFloats(logits, last.logits.Value().(*tensor.Dense), 0)
	return nil
}

// truncate makes every layer forget the tokens from position n on.
func (r *cachedReader) truncate(n int) (err error) {
	for _, layer := range r.cache {
		err = oneline.Join(err, layer.Truncate(n))
	}
	return err
}

// chunkLength returns how many of n tokens to read at once: the largest power of two.
func chunkLength(n int) int { return min(1<<(bits.Len(uint(n))-1), maxChunk) }

func (r *cachedReader) reset() {
	r.text = nil
	r.cache.Reset()
}

func (r *cachedReader) memory() (cache, graphs int) {
	for _, layer := range r.cache {
		cache += layer.Bytes()
	}
	for _, c := range r.chunks {
		graphs += c.machine.Memory().Planned
	}
	return cache, graphs
}

// chunk reads tokens of one length.
type chunk struct {
	ids, start *G.Node // (T), ()
	window     []int   // of ids
	logits     *G.Node // (V)
	machine    *machine.Machine
}

// chunk returns the graph for n tokens, compiled on first use.
func (r *cachedReader) chunk(n int) (*chunk, error) {
	if c, ok := r.chunks[n]; ok {
		return c, nil
	}
	stock.Building.Lock()
	defer stock.Building.Unlock()
	c := new(chunk)
	b := layers.NewBuild(r.model.Params(), layers.Eval)
	var err error
	if c.ids, c.window, err = idsInput(b, n); err != nil {
		return nil, err
	}
	if c.start, err = b.InputOf(tensor.Int, "start"), b.Err(); err != nil {
		return nil, err
	}
	if c.logits, err = r.model.ForwardCached(b, c.ids, c.start, r.cache); err != nil {
		return nil, err
	}
	if c.machine, err = machine.New(c.logits); err != nil {
		return nil, err
	}
	r.chunks[n] = c
	return c, nil
}

func (c *chunk) run(ctx context.Context, ids []int, start int) error {
	copy(c.window, ids)
	if err := G.Let(c.start, start); err != nil {
		return err
	}
	return c.machine.Run(ctx)
}

// idsInput returns an input for n tokens and the memory of its value.
func idsInput(b *layers.Build, n int) (*G.Node, []int, error) {
	ids, err := b.InputOf(tensor.Int, "ids", n), b.Err()
	if err != nil {
		return nil, nil, err
	}
	window := make([]int, n)
	return ids, window, G.Let(ids, tensor.New(tensor.WithShape(n), tensor.WithBacking(window)))
}
