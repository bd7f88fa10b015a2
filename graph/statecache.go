package graph

import (
	"errors"
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// cacheBase is what KVCache and StateCache have in common: the number of tokens that each sequence has seen.
type cacheBase struct{ seen []int }

// checkCacheType refuses a type of numbers that no cache holds.
func checkCacheType(kind string, dt tensor.Dtype) error {
	if !dense.IsFloat(dt) {
		return fmt.Errorf("graph: %s: dtype: got %v, want float32 or float64", kind, dense.TypeName(dt))
	}
	return nil
}

// shortest returns the number of tokens of the shortest sequence.
func (c *cacheBase) shortest() int { return slices.Min(c.seen) }

// attach checks the arguments that every op on a cache has: x (…, T, E), and the positions start, () or (…, 1), of the
// first tokens of its sequences. It refuses a second op of a graph that fills the cache.
func (c *cacheBase) attach(op string, x, start *G.Node) error {
	if err := checkArgs(op, []arg{{name: "x"}, {name: "start", integer: true}}, G.Nodes{x, start}); err != nil {
		return err
	}
	if isFilledIn(x.Graph(), c) {
		return fmt.Errorf("graph: %s: cache: got one that another op of this graph fills, want one for each", op)
	}
	got, shape, want := start.Shape(), x.Shape(), "()"
	if got.IsScalar() {
		return nil
	}
	if len(shape) > 2 {
		each := firstOfEach(shape[:len(shape)-1])
		if slices.Equal(got, each) {
			return nil
		}
		want = fmt.Sprintf("() or %v", each)
	}
	return &ShapeError{op, "start", got, want}
}

// isFilledIn reports whether an op of a graph fills a cache.
func isFilledIn(g *G.ExprGraph, c *cacheBase) bool {
	return slices.ContainsFunc(g.AllNodes(), func(n *G.Node) bool {
		o, ours := n.Op().(op)
		return ours && o.has.cache == c
	})
}

// noGradient is a body of an op on a cache, which is for decoding.
type noGradient struct{}

func (noGradient) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return nil, errCached }

var errCached = errors.New("has no gradient: train on a graph without a cache")

// StateCache holds the state of a recurrent op after the tokens that a model has seen, whose size does not depend on
// their number. It belongs to no graph: graphs for chunks of any length share it. It is for one goroutine at a time.
type StateCache struct {
	cacheBase
	value *tensor.Dense
}

// NewStateCache returns a cache of no tokens for a state of a type and shape: of CachedLinearAttention (B, K, D, Dv),
// of CachedCausalConv (B, N−1, C).
func NewStateCache(dt tensor.Dtype, shape ...int) (*StateCache, error) {
	if err := checkCacheType("StateCache", dt); err != nil {
		return nil, err
	}
	for _, n := range shape {
		if n < 1 || !dense.Fits(shape...) {
			return nil, fmt.Errorf("graph: StateCache: shape: got %v, want axes of at least 1 and at most %d elements",
				tensor.Shape(shape), dense.MaxElements)
		}
	}
	sequences := append(slices.Clone(shape), 1)[0]
	return &StateCache{cacheBase{make([]int, sequences)}, tensor.New(tensor.Of(dt), tensor.WithShape(shape...))}, nil
}

// Len returns the number of tokens in the shortest sequence of the cache: the next chunk of all sequences may start
// there.
func (c *StateCache) Len() int { return c.shortest() }

// Bytes returns the memory that the state takes.
func (c *StateCache) Bytes() int { return int(c.value.MemSize()) }

// Value returns the state after the tokens seen. Each run changes it.
func (c *StateCache) Value() *tensor.Dense { return c.value }

// Reset forgets all tokens.
func (c *StateCache) Reset() {
	clear(c.seen)
	c.value.Zero()
}

// Truncate forgets the tokens from position n on. A state has all tokens or none: n is 0 or Len.
func (c *StateCache) Truncate(n int) error {
	switch {
	case n == 0:
		c.Reset()
	case n != c.Len() || n != slices.Max(c.seen):
		return fmt.Errorf("graph: StateCache: length: got %d, want 0 or %d: a state has all tokens or none", n,
			slices.Max(c.seen))
	}
	return nil
}

// check refuses an op on x (…, T, C) that the cache is not for. The state's first axis is the number of sequences.
func (c *StateCache) check(op string, x, start *G.Node, state ...int) error {
	if c == nil || c.value == nil {
		return &TypeError{op, "cache", "nil or its zero value", "a cache of NewStateCache"}
	}
	if err := c.attach(op, x, start); err != nil {
		return err
	}
	if got, want := c.value.Shape(), tensor.Shape(state); !got.Eq(want) {
		return &ShapeError{op, "cache", got, fmt.Sprint(want)}
	}
	if c.value.Dtype() != x.Dtype() {
		return &TypeError{op, "cache", fmt.Sprint(c.value.Dtype()),
			fmt.Sprintf("%v, as the other arguments", x.Dtype())}
	}
	return nil
}

// take checks that a chunk of T tokens, or of a length for each sequence, follows the tokens seen, and counts it. It
// returns the number of tokens of each sequence. With lengths, a sequence that starts at 0 begins with an empty state,
// and a sequence without tokens may start anywhere.
func take[F kernel.Float](c *StateCache, op string, start *tensor.Dense, lengths []int64, T int) ([]int, error) {
	starts, counts := dense.Ints(start), make([]int, len(c.seen))
	for b, seen := range c.seen {
		counts[b] = T
		if lengths != nil {
			counts[b] = int(min(max(lengths[b], 0), int64(T)))
		}
		got := starts[b%len(starts)]
		if anew := lengths != nil && (got == 0 || counts[b] == 0); !anew && got != int64(seen) {
			return nil, fmt.Errorf("graph: %s: start: got %d, want %d, the number of tokens seen", op, got, seen)
		}
	}
	state := dense.Floats[F](c.value)
	for b, n := range counts {
		if n > 0 && starts[b%len(starts)] == 0 {
			c.seen[b] = 0
			clear(state[b*len(state)/len(counts):][:len(state)/len(counts)])
		}
		c.seen[b] += n
	}
	return counts, nil
}
