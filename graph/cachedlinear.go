package graph

import (
	"fmt"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// CachedLinearAttention returns the outputs ([B,] T, H·Dv) of LinearAttention of a chunk of tokens that follow those
// that the cache, a state (B, K, D, Dv), has seen. start is an int or int64 node that each run gives anew: the number
// of these tokens, () of all sequences or (B, 1) of each. Each run makes the state that after the chunk. With c.Lengths
// so many tokens of each sequence follow, and a sequence that starts at 0 begins anew. There is no gradient, and c has
// no State.
func CachedLinearAttention(q, k, v, start *G.Node, cache *StateCache, c LinearAttentionConfig) (*G.Node, error) {
	const name = "CachedLinearAttention"
	if c.State != nil {
		return nil, fmt.Errorf("graph: %s: config: got State, want none with a cache", name)
	}
	o, in, err := c.resolve(name, q, k, v)
	if err != nil {
		return nil, err
	}
	if err := checkArgs(name, o.args(false), in); err != nil {
		return nil, err
	}
	l, err := o.sizes(shapesOf(in))
	if err != nil {
		return nil, err
	}
	if err := cache.check(name, q, start, l.B, l.K, l.D, l.DV); err != nil {
		return nil, err
	}
	f32, f64 := cachedLinear[float32]{linear: o, Cache: cache}, cachedLinear[float64]{linear: o, Cache: cache}
	return applyTyped(f32, f64, append(in, start)...)
}

// cachedLinear begins with the state of a cache and leaves the last there.
type cachedLinear[F kernel.Float] struct {
	linear
	Cache *StateCache
}

func (o cachedLinear[F]) spec() spec {
	return spec{name: o.Op, args: o.args(false, arg{name: "start", integer: true}), precision: o.Precision, cache: o.Cache}
}

func (o cachedLinear[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	return linearOutput[F]{linear: o.linear}.shape(in)
}

func (o cachedLinear[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	l, x, rest, err := linearInputs[F](o.linear, in)
	if err != nil {
		return err
	}
	if _, err := take[F](o.Cache, o.Op, rest[0], l.Lengths, l.T); err != nil {
		return err
	}
	state := dense.Floats[F](o.Cache.value)
	x.State = state
	states := make([]F, l.States()*len(state))
	kernel.LinearForward(l, dense.Floats[F](out), states, x)
	copy(state, states[len(states)-len(state):])
	return nil
}

func (o cachedLinear[F]) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) {
	return nil, errCached(o.Op)
}

// CachedCausalConv returns CausalConv of a chunk of tokens that follow those that the cache has seen, of which it holds
// the last (B, N−1, C). start and lengths (B), which may be nil, are as CachedLinearAttention's. There is no gradient.
func CachedCausalConv(x, weight, bias, start, lengths *G.Node, cache *StateCache) (*G.Node, error) {
	const name = "CachedCausalConv"
	o, in := causalConv{Bias: bias != nil}, G.Nodes{x, weight}
	if bias != nil {
		in = append(in, bias)
	}
	if err := checkArgs(name, o.args(), in); err != nil {
		return nil, err
	}
	c, err := o.sizes(shapesOf(in))
	if err != nil {
		return nil, err
	}
	if err := cache.check(name, x, start, c.B, c.N-1, c.C); err != nil {
		return nil, err
	}
	if in = append(in, start); lengths != nil {
		if in = append(in, lengths); lengths.Shape().TotalSize() != c.B {
			return nil, &ShapeError{name, "lengths", lengths.Shape(), fmt.Sprintf("(B=%d)", c.B)}
		}
	}
	return applyTyped(cachedConv[float32]{causalConv: o, Cache: cache, Lengths: lengths != nil},
		cachedConv[float64]{causalConv: o, Cache: cache, Lengths: lengths != nil}, in...)
}

// cachedConv begins with the tokens of a cache and leaves the last there.
type cachedConv[F kernel.Float] struct {
	sameShape
	causalConv
	Cache   *StateCache
	Lengths bool
}

func (o cachedConv[F]) spec() spec {
	args := o.args(arg{name: "start", integer: true})
	if o.Lengths {
		args = append(args, arg{name: "lengths", integer: true})
	}
	return spec{name: "CachedCausalConv", args: args, cache: o.Cache}
}

func (o cachedConv[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	n := len(o.args())
	c, x, err := convInputs[F](o.causalConv, in[:n])
	if err != nil {
		return err
	}
	var lengths []int64
	if o.Lengths {
		lengths = dense.Ints(in[n+1])
	}
	counts, err := take[F](o.Cache, "CachedCausalConv", in[n], lengths, c.T)
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

func (o cachedConv[F]) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) {
	return nil, errCached("CachedCausalConv")
}

// errCached is the error of differentiating an op that is for decoding.
func errCached(op string) error {
	return fmt.Errorf("graph: %s: has no gradient: train on a graph without a cache", op)
}
