package graph

import (
	"fmt"
	"slices"

	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// resolveCached checks the inputs of an attention to a cache, and resolves the mask.
func (x FusedInputs) resolveCached(c AttentionConfig) (*attentionArgs, error) {
	const op = "FusedAttention"
	cache, q, k, v := x.Cache, x.Query, x.Key, x.Value
	if cache == nil {
		return nil, &TypeError{op, "cache", "nil", "a cache"}
	}
	if cache.k == nil {
		return nil, &TypeError{op, "cache", "its zero value", "a cache of NewKVCache"}
	}
	if err := checkArgs(op, named("q", "k", "v"), G.Nodes{q, k, v}); err != nil {
		return nil, err
	}
	c.Heads = max(c.Heads, 1)
	a := &attentionArgs{AttentionConfig: c, op: op, q: q}
	if err := a.checkShapes(q.Shape(), k.Shape(), v.Shape()); err != nil {
		return nil, err
	}
	if a.scores.T != a.scores.S {
		return nil, &ShapeError{op, "k", k.Shape(), fmt.Sprintf("T=%d new tokens, as q has", a.scores.T)}
	}
	if err := cache.checkFit(a, q.Dtype(), last(k.Shape()), last(v.Shape())); err != nil {
		return nil, err
	}
	if err := a.checkNumbers(last(q.Shape()) / a.numHeads); err != nil {
		return nil, err
	}
	size := cache.config
	a.scores.S, a.scores.Starts, a.scores.Endless = size.Capacity, []int{0}, size.Rolling
	if c.Sparse != nil {
		if err := a.checkSparse(); err != nil {
			return nil, err
		}
		if size.Rolling {
			return nil, a.errorf("sparse: got a rolling cache, want one that keeps all tokens")
		}
		a.Mask = a.causal()
	}
	if err := a.resolveInputs(); err != nil {
		return nil, err
	}
	if a.mask.mask == (mask.All{}) {
		return nil, a.errorf("mask: got none with a cache, want one that hides later keys, as mask.Causal")
	}
	return a, cache.attach(op, q, x.Start)
}

// checkFit returns an error for an attention that does not fit the cache.
func (c *KVCache) checkFit(a *attentionArgs, dt tensor.Dtype, keyWidth, valueWidth int) error {
	size := c.config
	switch {
	case a.scores.B() != size.Batch || keyWidth != size.KeyWidth || valueWidth != size.ValueWidth || dt != c.k.Dtype():
		return a.errorf("cache: got one for %d sequences of %v, keys %d and values %d wide, "+
			"want %d of %v, %d and %d wide",
			size.Batch, c.k.Dtype(), size.KeyWidth, size.ValueWidth, a.scores.B(), dt, keyWidth, valueWidth)
	case a.gates() != size.Gates:
		return a.errorf("cache: got one for %d log-gates of a token, want %d", size.Gates, a.gates())
	case a.ExtraKeys > 0:
		return a.errorf("extra keys: got %d, want none with a cache", a.ExtraKeys)
	case a.Dropout.P > 0:
		return a.errorf("dropout: got %v, want none with a cache", a.Dropout.P)
	case size.Rolling && a.Bias != nil:
		return a.errorf("bias: got one for each key, want none with a rolling cache")
	}
	return nil
}

// checkNoLater returns an error for a mask that shows a query a key after the chunk.
func checkNoLater(keys mask.KeySet, axes mask.Scores, capacity int) error {
	for row := range axes.B() * axes.T {
		b, t := row/axes.T, row%axes.T
		start := axes.Starts[b%len(axes.Starts)]
		end := start + axes.T
		lo, hi, all := keys.Span(b, t)
		if hi <= end || lo >= hi {
			continue
		}
		sees := all || hi > capacity
		for h := 0; h < axes.H && !sees; h++ {
			later := make([]bool, hi-end)
			keys.Fill(b, h, t, end, later)
			sees = slices.Contains(later, true)
		}
		if sees {
			return fmt.Errorf("graph: FusedAttention: mask: got one by which query %d sees keys after %d, the last "+
				"one there is, want one that hides later keys, as mask.Causal", start+t, end-1)
		}
	}
	return nil
}
