package generate

import (
	"context"
	"fmt"

	"attention/internal/dense"

	"gorgonia.org/tensor"
)

// maxChunk is the largest number of tokens of a text that are read together; 256 tokens took a seventh longer at
// GPT-2's size.
const maxChunk = 512

// read adds tokens to the texts, if it gets any, and makes the model read every token that it has not read. An error
// changes nothing.
func (g *Batch) read(ctx context.Context, more [][]int) error {
	g.before = append(g.before[:0], g.texts...)
	if err := g.readUnread(ctx, more); err != nil {
		g.restore()
		return err
	}
	for i := range g.texts {
		t := &g.texts[i]
		if t.scored {
			t.logits, t.next = t.next, t.logits
		}
		t.scored, t.lost = false, false
	}
	return nil
}

// readUnread adds tokens to the texts and reads in chunks, up to the first error.
func (g *Batch) readUnread(ctx context.Context, more [][]int) error {
	for i := range g.texts {
		t := &g.texts[i]
		if more != nil {
			t.ids = append(t.ids, more[i]...)
		}
		if err := g.slide(t); err != nil {
			return g.failure(i, err)
		}
	}
	for T := g.chunk(); T > 0; T = g.chunk() {
		if err := g.readChunk(ctx, T); err != nil {
			return fmt.Errorf("generate: %w", err)
		}
	}
	return nil
}

// restore restores the texts to their state before a read that failed.
func (g *Batch) restore() {
	for i := range g.texts {
		t, old := &g.texts[i], &g.before[i]
		if t.lost {
			old.read = 0
		}
		old.next = t.next
		*t = *old
	}
}

// slide removes the beginning of a text that outgrows the capacity.
func (g *Batch) slide(t *batchText) error {
	n := len(t.ids)
	switch {
	case n <= g.capacity:
	case g.left == 0:
		return fmt.Errorf("%w: got %d tokens, want at most %d", ErrFull, n, g.capacity)
	default:
		t.ids, t.read, t.lost = t.ids[n-g.left:], 0, true // every token gets another position
	}
	return nil
}

// chunk returns how many tokens of each text are read next: as many as possible, since each chunk reads all weights,
// which takes several times as long as compiling a graph of its length. A layer whose cache cannot be truncated cannot
// read tokens again, so all tokens of a chunk must fit into every text that is not full.
func (g *Batch) chunk() int {
	unread, room := 0, maxChunk
	for i := range g.texts {
		t := &g.texts[i]
		unread = max(unread, len(t.ids)-t.read)
		if free := g.capacity - t.read; g.onward && free > 0 {
			room = min(room, free)
		}
	}
	if unread > 0 && g.cache == nil {
		return g.capacity
	}
	return min(unread, room, g.capacity)
}

// readChunk reads the next T unread tokens of each text. If a text has fewer, arbitrary ids follow them; if the cache
// has no space behind them, the tokens before them are read again. With layers whose caches cannot be truncated, this
// happens only in a full text, and changes no state.
func (g *Batch) readChunk(ctx context.Context, T int) (err error) {
	if err := ctx.Err(); err != nil {
		return err // before a state is overwritten
	}
	window, begun := g.window(T), false
	for i := range g.texts {
		t := &g.texts[i]
		start := min(t.read, g.capacity-T)
		n := copy(window[i*T:][:T], t.ids[start:])
		clear(window[i*T+n : (i+1)*T])
		g.starts[i], g.rows[i], g.lengths[i] = start, i*T+max(n, 1)-1, min(T, len(t.ids)-t.read)
		begun, t.lost = begun || t.read > 0, t.lost || g.onward
	}
	if !begun {
		g.cache.Reset() // a layer with a window starts over only then
	}
	if g.logits, err = g.forward.CallInto(ctx, g.logits, g.values); err != nil {
		return err
	}
	for i := range g.texts {
		t := &g.texts[i]
		end := min(g.starts[i]+T, len(t.ids))
		if end == len(t.ids) && t.read < end {
			if t.next == nil {
				t.next = make([]float64, g.vocab)
			}
			dense.ByType(g.logits[0].Dtype(), widen[float32], widen[float64])(t.next, g.logits[0], i*g.vocab)
			t.scored = true
		}
		t.read = end
	}
	return nil
}

// window makes ids a tensor of T tokens of each text, and returns its numbers.
func (g *Batch) window(T int) []int {
	n, kept := len(g.texts), &g.ids[min(T-1, 1)]
	if *kept == nil || (*kept).DataSize() != n*T {
		*kept = ints(make([]int, n*T), n, T)
		if n == 1 {
			*kept = ints(make([]int, T), T)
		}
	}
	g.values["ids"] = *kept
	return (*kept).Ints()
}

// ints returns a tensor of numbers.
func ints(numbers []int, shape ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(numbers))
}

// widen copies numbers from element from on.
func widen[F float32 | float64](dst []float64, src *tensor.Dense, from int) {
	for i, v := range dense.Floats[F](src)[from:][:len(dst)] {
		dst[i] = float64(v)
	}
}
