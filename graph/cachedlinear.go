package graph

import (
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// CachedLinearAttention returns the outputs ([B,] T, H·Dv) of LinearAttention for a chunk of tokens that follow the
// tokens seen by the cache, a state (B, K, D, Dv). start is an int or int64 node that each run sets: the number of
// tokens that the cache has seen, () for all sequences or (B, 1) for each. Each run replaces the state by the state
// after the chunk. c.Lengths are the numbers of new tokens of the sequences; if they are given, a sequence that starts
// at 0 begins with an empty state. There is no gradient, and c has no State.
func CachedLinearAttention(q, k, v, start *G.Node, cache *StateCache, c LinearAttentionConfig) (*G.Node, error) {
	const name = "CachedLinearAttention"
	if c.State != nil {
		return nil, fmt.Errorf("graph: %s: config: got State, want none with a cache", name)
	}
	o, in, err := c.resolve(name, q, k, v)
	if err != nil {
		return nil, err
	}
	if err := checkArgs(name, linearArgs, in); err != nil {
		return nil, err
	}
	if _, err := o.shape(shapesOf(in)); err != nil {
		return nil, err
	}
	l := o.sizes(q.Shape(), v.Shape(), nil)
	if err := cache.check(name, q, start, l.B, l.K, l.D, l.DV); err != nil {
		return nil, err
	}
	f32, f64 := cachedLinear[float32]{linear: o, Cache: cache}, cachedLinear[float64]{linear: o, Cache: cache}
	return applyTyped(f32, f64, append(in, start)...)
}

// cachedLinear continues from the state in a cache and stores the last state there. It is an op because no other op
// writes to this cache.
type cachedLinear[F kernel.Float] struct {
	noGradient
	linear
	Cache *StateCache
}

func (o cachedLinear[F]) spec() spec {
	s := o.linear.spec()
	s.args, s.cache = append(slices.Clone(s.args), arg{name: "start", integer: true}), &o.Cache.cacheBase
	return s
}

func (o cachedLinear[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	l, x := linearInputs[F](o.linear, in)
	if _, err := take[F](o.Cache, o.Op, in[7], l.Lengths, l.T); err != nil {
		return err
	}
	state := dense.Floats[F](o.Cache.value)
	x.State = state
	states := make([]F, l.States()*len(state))
	kernel.LinearForward(l, dense.Floats[F](out), states, x)
	copy(state, states[len(states)-len(state):])
	return nil
}

// CachedCausalConv returns CausalConv of a chunk of tokens that follow the tokens seen by the cache, which holds the last
// N−1 of them, (B, N−1, C). start and lengths (B) are as in CachedLinearAttention; lengths may be nil. There is no
// gradient.
func CachedCausalConv(x, weight, bias, start, lengths *G.Node, cache *StateCache) (*G.Node, error) {
	const name = "CachedCausalConv"
	in := G.Nodes{x, weight, bias, nil}
	if err := checkArgs(name, convArgs, in); err != nil {
		return nil, err
	}
	if _, err := (causalConv[float32]{}).shape(shapesOf(in)); err != nil {
		return nil, err
	}
	c := convSizes(x.Shape(), weight.Shape())
	if err := cache.check(name, x, start, c.B, c.N-1, c.C); err != nil {
		return nil, err
	}
	if lengths != nil && lengths.Shape().TotalSize() != c.B {
		return nil, &ShapeError{name, "lengths", lengths.Shape(), fmt.Sprintf("(B=%d)", c.B)}
	}
	in = append(in, start, lengths)
	return applyTyped(cachedConv[float32]{Cache: cache}, cachedConv[float64]{Cache: cache}, in...)
}

// cachedConv continues from the tokens in a cache and stores the last tokens there. It is an op because no other op
// writes to this cache.
type cachedConv[F kernel.Float] struct {
	noGradient
	sameShape
	Cache *StateCache
}

func (o cachedConv[F]) spec() spec {
	args := append(slices.Clone(convArgs), arg{name: "start", integer: true},
		arg{name: "lengths", integer: true, optional: true})
	return spec{name: "CachedCausalConv", args: args, cache: &o.Cache.cacheBase}
}

func (o cachedConv[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	c, x := convSizes(in[0].Shape(), in[1].Shape()), convOperands[F](in)
	counts, err := take[F](o.Cache, "CachedCausalConv", in[4], ints(in[5]), c.T)
	if err != nil {
		return err
	}
	state := dense.Floats[F](o.Cache.value)
	x.State = state
	kernel.CausalConvForward(c, dense.Floats[F](out), x)
	for b, taken := range counts {
		s, kept := state[b*(c.N-1)*c.C:][:(c.N-1)*c.C], max(0, c.N-1-taken)
		copy(s, s[len(s)-kept*c.C:])
		copy(s[kept*c.C:], x.X[(b*c.T+taken-(c.N-1-kept))*c.C:])
	}
	return nil
}
