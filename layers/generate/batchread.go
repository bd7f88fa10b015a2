package generate

import (
	"context"
	"fmt"
	"slices"

	"attention/graph/machine"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// readAll adds tokens to the texts and makes the model read every token that it has not read. An error changes nothing.
func (g *Batch) readAll(ctx context.Context, more [][]int) error {
	before := slices.Clone(g.texts)
	if err := g.readUnread(ctx, more); err != nil {
		g.restore(before)
		return fmt.Errorf("generate: %w", err)
	}
	for i := range g.texts {
		t := &g.texts[i]
		if t.scored {
			t.logits, t.next = t.next, t.logits
		}
		t.scored, t.slid = false, false
	}
	return nil
}

// readUnread adds tokens to the texts and reads in chunks, up to the first error.
func (g *Batch) readUnread(ctx context.Context, more [][]int) error {
	if err := g.add(more); err != nil {
		return err
	}
	for T := g.unread(); T > 0; T = g.unread() {
		if err := g.readChunk(ctx, min(T, maxChunk, g.room())); err != nil {
			return err
		}
	}
	return nil
}

// restore makes the texts what they were before a reading that failed.
func (g *Batch) restore(before []batchText) {
	for i := range g.texts {
		t, old := &g.texts[i], &before[i]
		if t.slid || g.states { // the cache no longer holds the old tokens, or states after more than them
			old.read = 0
		}
		old.next = t.next
		*t = *old
	}
}

// add adds tokens to the texts. A text that outgrows the capacity keeps its end, half the capacity.
func (g *Batch) add(more [][]int) error {
	for i := range g.texts {
		t := &g.texts[i]
		t.ids = append(t.ids, more[i]...)
		n := len(t.ids)
		if n <= g.capacity {
			continue
		}
		if !g.slide {
			return fmt.Errorf("text %d: %w: got %d tokens, want at most %d", i, ErrFull, n, g.capacity)
		}
		t.ids, t.read, t.slid = t.ids[n-max(g.capacity/2, 1):], 0, true // every token gets another position
	}
	return nil
}

// unread returns the largest number of tokens of a text that the model has not read.
func (g *Batch) unread() (most int) {
	for i := range g.texts {
		most = max(most, len(g.texts[i].ids)-g.texts[i].read)
	}
	return most
}

// room returns how many tokens a chunk may have: states cannot read tokens again, so that texts that are not full must
// have room for all of it.
func (g *Batch) room() int {
	most := g.capacity
	for i := range g.texts {
		if room := g.capacity - g.texts[i].read; g.states && room > 0 {
			most = min(most, room)
		}
	}
	return most
}

// readChunk reads the next T unread tokens of each text. If a text has fewer, ids that do not matter follow them; where
// the cache has no room behind, the tokens before them are read again. With states that happens only in a full text, and
// changes no state.
func (g *Batch) readChunk(ctx context.Context, T int) error {
	c, err := g.chunks.of(T, g.compile)
	if err != nil {
		return err
	}
	for i := range g.texts {
		t := &g.texts[i]
		start := min(t.read, g.capacity-T)
		n := copy(c.window[i*T:][:T], t.ids[start:])
		clear(c.window[i*T+n : (i+1)*T])
		c.starts[i], c.ends[i], c.lengths[i] = start, i*T+max(n, 1)-1, min(T, len(t.ids)-t.read)
	}
	if err := c.machine.Run(ctx); err != nil {
		return err
	}
	logits := c.logits.Value().(*tensor.Dense)
	for i := range g.texts {
		t := &g.texts[i]
		end := min(c.starts[i]+T, len(t.ids))
		if end == len(t.ids) && t.read < end {
			if t.next == nil {
				t.next = make([]float64, g.model.Config().VocabSize)
			}
			copyFloats(t.next, logits, i*len(t.next))
			t.scored = true
		}
		t.read = end
	}
	return nil
}

// batchChunk reads T tokens of each text.
type batchChunk struct {
	window, starts []int   // values of ids (B, T) and start (B, 1)
	ends, lengths  []int   // values of the rows (B) of the last tokens, and of the unread tokens (B)
	logits         *G.Node // (B, V)
	machine        *machine.Machine
}

func (c *batchChunk) length() int { return len(c.window) / len(c.starts) }

// compile makes the graph for T tokens of each text.
func (g *Batch) compile(T int) (*batchChunk, error) {
	B, c := len(g.texts), new(batchChunk)
	b := layers.NewBuild(g.model.Params(), layers.Eval)
	b.SetPrecision(g.products)
	var ids, start, rows, lengths *G.Node
	ids, c.window = intInput(b, "ids", B, T)
	start, c.starts = intInput(b, "start", B, 1)
	rows, c.ends = intInput(b, "rows", B)
	if c.lengths = make([]int, B); g.states {
		lengths, c.lengths = intInput(b, "lengths", B)
	}
	var err error
	if c.logits, err = g.model.ForwardCachedAt(b, ids, start, rows, lengths, g.cache); err != nil {
		return nil, err
	}
	c.machine, err = machine.New(c.logits)
	return c, err
}
