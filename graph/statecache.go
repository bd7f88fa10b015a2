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

// checkCacheType returns an error for a type of numbers that caches do not hold.
func checkCacheType(kind string, dt tensor.Dtype) error {
	if !dense.IsFloat(dt) {
		return fmt.Errorf("graph: %s: dtype: got %v, want float32 or float64", kind, dense.TypeName(dt))
	}
	return nil
}

// shortest returns the number of tokens of the shortest sequence.
func (c *cacheBase) shortest() int { return slices.Min(c.seen) }

// attach checks the arguments that every op on a cache has: x (…, T, E), and the positions start, () or (…, 1), of the
// first tokens of its sequences. It returns an error for a second op of one graph that fills the same cache.
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

// isFilledIn reports whether an op of a graph already fills a cache.
func isFilledIn(g *G.ExprGraph, c *cacheBase) bool {
	return slices.ContainsFunc(g.AllNodes(), func(n *G.Node) bool {
		o, ours := n.Op().(op)
		return ours && o.has.cache == c
	})
}

// noGradient is embedded in bodies of ops on a cache: caches are for decoding, not for training.
type noGradient struct{}

func (noGradient) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return nil, errCached }

var errCached = errors.New("has no gradient: train on a graph without a cache")

// StateCache holds the state of a recurrent op after the tokens that a model has seen. The size of the state does not
// depend on the number of tokens. It belongs to no graph: graphs for chunks of any length share it. It must not be used
// by several goroutines at once.
type StateCache struct {
	cacheBase
	value *tensor.Dense
}

// NewStateCache returns an empty cache for a state of a type and shape: (B, K, D, Dv) for CachedLinearAttention, (B,
// N−1, C) for CachedCausalConv.
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

// Bytes returns the memory of the state.
func (c *StateCache) Bytes() int { return int(c.value.MemSize()) }

// Value returns the state after the tokens seen. Each run changes it.
func (c *StateCache) Value() *tensor.Dense { return c.value }

// Reset forgets all tokens.
func (c *StateCache) Reset() {
	clear(c.seen)
	c.value.Zero()
}

// Truncate removes the tokens from position n on. A state cannot remove some of its tokens: n must be 0 or Len.
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

// check returns an error for an op on x (…, T, C) that does not fit the cache. The state's first axis is the number of
// sequences.
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

// take checks that a chunk of T tokens, or of the sequences' lengths, follows the tokens seen, and adds it to their
// number. It returns the number of tokens of each sequence. With lengths, a sequence that starts at 0 begins with an
// empty state, and a sequence without tokens may start anywhere.
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
