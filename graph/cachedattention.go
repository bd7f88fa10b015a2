package graph

import (
	"slices"

	"attention/graph/mask"
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// attendToCache applies the op of an attention to a cache.
func (x FusedInputs) attendToCache(c AttentionConfig) (*G.Node, error) {
	a, err := x.resolveCached(c)
	if err != nil {
		return nil, err
	}
	f, in := newFused(a, x)
	var sparse BlockSparse
	if c.Sparse != nil {
		sparse = *c.Sparse
	}
	f32, f64 := cachedAttention[float32]{fused: f, Cache: x.Cache, Sparse: sparse},
		cachedAttention[float64]{fused: f, Cache: x.Cache, Sparse: sparse}
	return applyTyped(f32, f64, append(in, x.Start)...)
}

// rolled also hides the tokens that a rolling cache has dropped.
func (c *KVCache) rolled(m mask.Mask) mask.Mask {
	window := mask.SlidingWindow{Left: c.config.Capacity - c.config.KeepFirst - 1}
	return mask.And(m, mask.Or(window, mask.Prefix{N: c.config.KeepFirst}))
}

// cachedAttention attends to a cache and adds to it. It is an op because no other op writes to this cache.
type cachedAttention[F kernel.Float] struct {
	noGradient
	fused
	Cache  *KVCache
	Sparse BlockSparse // zero if it is not
}

func (o cachedAttention[F]) spec() spec {
	return spec{name: "FusedAttention", args: append(o.args, arg{name: "start", integer: true}),
		precision: o.Precision, cache: &o.Cache.cacheBase}
}

func (o cachedAttention[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	out := in[0].Clone()
	out[len(out)-1] = last(in[2]) / o.KVHeads * o.Heads
	return out, nil
}

func (o cachedAttention[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	c, starts := o.Cache, startsOf(in[len(in)-1])
	a, axes := o.sizes(shapesOf(in))
	if err := c.checkStarts(starts, a.T); err != nil {
		return err
	}
	axes.S, axes.Starts = c.config.Capacity, starts
	if err := o.setBiasLayout(&a, in, axes); err != nil {
		return err
	}
	if c.config.Rolling {
		axes.S = mask.Unlimited
	}
	seen, err := o.seen(in, axes)
	if err != nil {
		return err
	}
	if err := checkNoLater(seen, axes, c.config.Capacity); err != nil {
		return err
	}
	if c.config.Rolling {
		o.Mask = c.rolled(o.Mask)
		if seen, err = o.seen(in, axes); err != nil {
			return err
		}
	}
	x := numbers[F](o.fused, &a, in)
	if err := grow[F](c, a.K, min(slices.Max(starts)+a.T, c.config.Capacity)); err != nil {
		return err
	}
	o.attendToCache(&a, &x, seen, starts)
	if o.Sparse.Blocks > 0 {
		means := meansInCache(c, o.Sparse.BlockSize, &a, starts, x.K)
		a.Chosen = &kernel.ChosenBlocks{Size: o.Sparse.BlockSize, Visible: a.Visible, Shown: a.Shown,
			Numbers: chooseBlocks(o.Sparse, &a, starts, x.Q, means)}
	}
	if a.T == 1 {
		a.Precision = kernel.Full // rounding all keys for one query takes longer than the query's products
	}
	lse := make([]F, kernel.RowNumbers*a.B*a.H*a.T)
	call := kernel.AttentionCall[F]{Attention: a, In: x, Out: dense.Floats[F](out), LSE: lse}
	call.Forward()
	return nil
}

// startsOf returns the start of each sequence, or a single number if all sequences share it.
func startsOf(in *tensor.Dense) []int {
	var starts []int
	for _, n := range dense.Ints(in) {
		starts = append(starts, int(n))
	}
	if slices.Min(starts) == slices.Max(starts) {
		return starts[:1]
	}
	return starts
}

// attendToCache stores the chunk and sets the kernel's arguments to all keys.
func (o cachedAttention[F]) attendToCache(a *kernel.Attention, x *kernel.QKV[F], seen mask.KeySet, starts []int) {
	chunkSums := continueSums(o.Cache, a, x.Forget, starts)
	positions := cachedKeys(o.Cache, a, x, chunkSums, starts)
	switch {
	case positions != nil:
		seen = seen.At(positions)
	default:
		seen = seen.First(a.S)
	}
	setVisibility(a, seen)
	o.Score.into(a, 0, func(b, t, s int) (int, int) {
		if positions != nil {
			s = positions[s]
		}
		return starts[b%len(starts)] + t, s
	})
	switch {
	case x.Relative == nil:
	case positions == nil && len(starts) == 1:
		a.RelativeAt.Zero = starts[0] + a.T - 1
	default:
		for s := len(positions); s < a.S; s++ {
			positions = append(positions, s)
		}
		bias, at := spreadRelative(a, x.Relative, positions, starts)
		x.Bias, a.BiasAt, x.Relative = bias, at, nil
	}
}

// cachedKeys stores the chunk's keys and values in the cache, and sets k and v to all keys and values that its queries
// may see. It returns the positions of the keys, nil if they are in order.
func cachedKeys[F kernel.Float](c *KVCache, a *kernel.Attention, x *kernel.QKV[F], chunkSums []float64,
	starts []int) (positions []int) {
	size, k, v, sums, width := c.config, dense.Floats[F](c.k), dense.Floats[F](c.v), c.gateSums(), a.DV
	if size.ValuesInKeys { // then v is k
		x.V, width = x.K, a.D
	}
	put := func() {
		store(c, k, x.K, a.K, starts, a.T)
		store(c, v, x.V, a.K, starts, a.T)
		if sums != nil {
			store(c, sums, chunkSums, a.H, starts, a.T)
		}
		for b := range c.seen {
			c.seen[b] = starts[b%len(starts)] + a.T
		}
	}
	if start := starts[0]; a.T > 1 && start+a.T > size.Capacity { // the chunk overwrites keys that its first queries still see
		positions = c.positions()
		n := len(positions)
		for t := range a.T {
			positions = append(positions, start+t)
		}
		allK, allV := beside(c, k, x.K, a.K, n, a.T), beside(c, v, x.V, a.K, n, a.T)
		if sums != nil {
			x.Forget.Key, x.Forget.Rows = beside(c, sums, chunkSums, a.H, n, a.T), n+a.T
		}
		put()
		x.K, x.V, a.S = allK, allV, len(positions)
		a.KeyAt, a.ValueAt = kernel.HeadsFirst(a.K, a.S, a.D), kernel.HeadsFirst(a.K, a.S, width)
		return positions
	}
	put()
	if sums != nil {
		x.Forget.Key, x.Forget.Rows = sums, c.rows
	}
	longest := slices.Max(c.seen)
	x.K, x.V, a.S = k, v, min(longest, size.Capacity)
	a.KeyAt, a.ValueAt = kernel.HeadsFirst(a.K, c.rows, a.D), kernel.HeadsFirst(a.K, c.rows, width)
	if longest <= size.Capacity {
		return nil
	}
	return c.positions()
}

// spreadRelative expands a relative bias for keys at the given positions, for all sequences or for each.
func spreadRelative[F kernel.Float](
	a *kernel.Attention, relative []F, positions, starts []int,
) ([]F, kernel.BiasLayout) {
	S := len(positions)
	heads := 1
	if a.RelativeAt.Head > 0 {
		heads = a.H
	}
	n := len(relative) / heads
	bias := make([]F, 0, len(starts)*heads*a.T*S)
	for _, start := range starts {
		for h := range heads {
			for t := range a.T {
				for _, p := range positions {
					i := max(start+t-p+a.T-1, 0) // 0 for a key after the chunk, which is hidden
					bias = append(bias, relative[h*n+min(i, n-1)])
				}
			}
		}
	}
	at := kernel.BiasLayout{Query: S, Key: 1}
	if heads > 1 {
		at.Head = a.T * S
	}
	if len(starts) > 1 {
		at.Batch = heads * a.T * S
	}
	return bias, at
}
