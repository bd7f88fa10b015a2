package generate

import (
	"context"
	"fmt"

	"attention/graph"
	"attention/graph/machine"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// maxChunk is the most tokens that are read at once: 256 took a seventh longer at GPT-2's size.
const maxChunk = 512

// cachedReader is a decoder with a cache. It cuts a text into as few chunks as possible: each chunk reads all weights,
// which takes several times as long as compiling a graph of its length.
type cachedReader struct {
	model    *layers.Decoder
	text     []int               // the part that the model sees
	cache    layers.DecoderCache // of its first tokens; of all of them unless reading has failed
	capacity int
	slide    bool
	products graph.Precision
	chunks   keptChunks[*chunk]
}

func newCachedReader(m *layers.Decoder, c Config) (*cachedReader, error) {
	size, err := c.cacheOf(m, 1)
	if err != nil {
		return nil, err
	}
	size.Windows = true // what cannot go back is read again
	cache, err := m.NewCache(size)
	if err != nil {
		return nil, err
	}
	r := &cachedReader{model: m, cache: cache, capacity: size.Capacity, slide: c.Slide, products: c.Precision}
	_, err = r.chunks.of(1, r.compile) // finds errors of the model now
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
		n := min(len(text)-start, maxChunk)
		c, err := r.readChunk(ctx, text[start:start+n], start)
		if err != nil { // some layers may have the chunk, others not
			r.truncate(begin)
			return err
		}
		last, start = c, start+n
	}
	r.text = text
	copyFloats(logits, last.logits.Value().(*tensor.Dense), 0)
	return nil
}

// readChunk reads the tokens that follow the first start ones.
func (r *cachedReader) readChunk(ctx context.Context, ids []int, start int) (*chunk, error) {
	c, err := r.chunks.of(len(ids), r.compile)
	if err != nil {
		return nil, err
	}
	return c, c.run(ctx, ids, start)
}

// truncate makes every layer forget the tokens from position n on. If one cannot go back, all forget all, and the text
// is read again.
func (r *cachedReader) truncate(n int) {
	for _, layer := range r.cache {
		if layer.Truncate(n) != nil {
			r.cache.Reset()
			return
		}
	}
}

func (r *cachedReader) keep(ids []int, n int) (left, known int) {
	n = min(n, len(r.text))
	for left < n && ids[left] == r.text[left] {
		left++
	}
	r.truncate(min(left, r.cache.Len()))
	r.text = r.text[:left]
	return left, r.cache.Len()
}

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

func (c *chunk) length() int { return len(c.window) }

// chunk reads tokens of one length.
type chunk struct {
	ids, start *G.Node // (T), ()
	window     []int   // of ids
	logits     *G.Node // (V)
	machine    *machine.Machine
}

// compile makes the graph for n tokens.
func (r *cachedReader) compile(n int) (*chunk, error) {
	c := new(chunk)
	b := layers.NewBuild(r.model.Params(), layers.Eval)
	b.SetPrecision(r.products)
	c.ids, c.window = intInput(b, "ids", n)
	c.start = b.InputOf(tensor.Int, "start")
	var err error
	if c.logits, err = r.model.ForwardCached(b, c.ids, c.start, r.cache); err != nil {
		return nil, err
	}
	c.machine, err = machine.New(c.logits)
	return c, err
}

func (c *chunk) run(ctx context.Context, ids []int, start int) error {
	copy(c.window, ids)
	if err := G.Let(c.start, start); err != nil {
		return err
	}
	return c.machine.Run(ctx)
}

// intInput returns an input of ints and the memory of its value. The build keeps its error.
func intInput(b *layers.Build, name string, shape ...int) (*G.Node, []int) {
	x := b.InputOf(tensor.Int, name, shape...)
	if b.Err() != nil {
		return x, nil
	}
	value := make([]int, tensor.Shape(shape).TotalSize())
	return b.Of(x, G.Let(x, tensor.New(tensor.WithShape(shape...), tensor.WithBacking(value)))), value
}
