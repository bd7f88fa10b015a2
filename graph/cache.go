package graph

import (
	"errors"
	"fmt"
	"slices"

	"attention/internal/dense"

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
