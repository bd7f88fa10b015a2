package generate

import (
	"context"
	"fmt"

	"attention/graph/machine"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// readAll adds tokens to the texts and makes the model read all that it has not read.
func (g *Batch) readAll(ctx context.Context, more [][]int) error {
	before := append([]batchText{}, g.texts...)
	err := g.add(more)
	for T := g.unread(); err == nil && T > 0; T = g.unread() {
		err = g.readChunk(ctx, min(T, maxChunk))
	}
	for i := range g.texts {
		t, old := &g.texts[i], &before[i]
		switch {
		case err != nil:
			if t.slid { // over the tokens that the cache held
				old.read = 0
			}
			old.next, *t = t.next, *old
		case t.scored:
			t.logits, t.next = t.next, t.logits
		}
		t.scored, t.slid = false, false
	}
	if err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	return nil
}

// add adds tokens to the texts. One that outgrows the capacity goes on from its last half.
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

// unread returns how many tokens the model has not read, of the text with the most of them.
func (g *Batch) unread() (most int) {
	for i := range g.texts {
		most = max(most, len(g.texts[i].ids)-g.texts[i].read)
	}
	return most
}

// readChunk reads T tokens of each text, those that come first of what it has not read. One that has fewer is filled
// up with what came before them, where there is no room behind, and with any id.
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
		c.starts[i], c.ends[i] = start, i*T+max(n, 1)-1
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
	window, starts, ends []int   // values of ids (B, T), start (B, 1) and the rows (B) of the last tokens
	logits               *G.Node // (B, V)
	machine              *machine.Machine
}

func (c *batchChunk) length() int { return len(c.window) / len(c.starts) }

// compile makes the graph for T tokens of each text.
func (g *Batch) compile(T int) (*batchChunk, error) {
	B, c := len(g.texts), new(batchChunk)
	b := layers.NewBuild(g.model.Params(), layers.Eval)
	b.SetPrecision(g.products)
	in := make(G.Nodes, 3)
	for i, x := range []struct {
		name  string
		shape []int
		value *[]int
	}{
		{name: "ids", shape: []int{B, T}, value: &c.window},
		{name: "start", shape: []int{B, 1}, value: &c.starts},
		{name: "rows", shape: []int{B}, value: &c.ends},
	} {
		var err error
		if in[i], *x.value, err = intInput(b, x.name, x.shape...); err != nil {
			return nil, err
		}
	}
	var err error
	if c.logits, err = g.model.ForwardCachedAt(b, in[0], in[1], in[2], g.cache); err != nil {
		return nil, err
	}
	c.machine, err = machine.New(c.logits)
	return c, err
}
