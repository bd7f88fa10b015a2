package layers

import "attention/graph"

// linearCache holds the memory of a LinearAttention of earlier tokens: the states of its heads and the last tokens that
// its convolutions see. Its size does not depend on how many tokens there are. It is for one goroutine at a time.
type linearCache struct {
	state *graph.StateCache
	sum   *graph.StateCache    // of the keys, with Normalize
	convs [3]*graph.StateCache // with ConvSize
	all   []*graph.StateCache  // those of the above that there are
}

// NewCache returns an empty cache for a number of sequences; 0 means 1.
func (l *LinearAttention) NewCache(batch int) (AttentionCache, error) {
	c, cache := l.config, &linearCache{}
	var err error
	add := func(shape ...int) *graph.StateCache {
		s, wrong := graph.NewStateCache(l.params.Dtype(), append([]int{max(batch, 1)}, shape...)...)
		if wrong != nil {
			err = wrong
		}
		cache.all = append(cache.all, s)
		return s
	}
	cache.state = add(c.NumKVHeads, c.HeadDim, c.ValueDim)
	if c.Normalize {
		cache.sum = add(c.NumKVHeads, c.HeadDim, 1)
	}
	for i, width := range c.widths() {
		if c.ConvSize > 0 {
			cache.convs[i] = add(c.ConvSize-1, width)
		}
	}
	if err != nil {
		return nil, inLayer(l.name, err)
	}
	return cache, nil
}

func (l *LinearAttention) newCache(c graph.KVCacheConfig) (AttentionCache, error) {
	return l.NewCache(c.Batch)
}

// Len returns the number of tokens that the cache has seen: where the next chunk starts.
func (c *linearCache) Len() int { return c.state.Len() }

// Bytes returns the memory of the states.
func (c *linearCache) Bytes() (n int) {
	for _, s := range c.all {
		n += s.Bytes()
	}
	return n
}

// Reset forgets all tokens.
func (c *linearCache) Reset() {
	for _, s := range c.all {
		s.Reset()
	}
}

// Truncate forgets the tokens from position n on. A state has all tokens or none: n is 0 or Len.
func (c *linearCache) Truncate(n int) error {
	for _, s := range c.all {
		if err := s.Truncate(n); err != nil {
			return err
		}
	}
	return nil
}
