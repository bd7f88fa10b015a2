package layers

import (
	"attention/graph"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// GPTCache holds the keys and values of each block of a GPT, so that each new token
// costs one row of every product instead of the whole sequence. It belongs to no graph:
// graphs for chunks of any length share it. It is for one goroutine at a time.
type GPTCache struct{ layers []*graph.KVCache }

// NewCache makes an empty cache. Its widths and type are set here; Capacity 0 means
// the model's Context.
func (m *GPT) NewCache(c graph.KVCacheConfig) (*GPTCache, error) {
	if c.Capacity == 0 {
		c.Capacity = m.config.ContextLength
	}
	cache := new(GPTCache)
	for _, block := range m.blocks {
		layer, err := block.attention.NewCache(c)
		if err != nil {
			return nil, err
		}
		cache.layers = append(cache.layers, layer)
	}
	return cache, nil
}

// Len is the number of tokens that the cache has seen: where the next chunk starts.
func (c *GPTCache) Len() int { return c.layers[0].Len() }

// Bytes is the memory that keys and values of all blocks take.
func (c *GPTCache) Bytes() int {
	n := 0
	for _, layer := range c.layers {
		n += layer.Bytes()
	}
	return n
}

// Reset forgets all tokens.
func (c *GPTCache) Reset() {
	for _, layer := range c.layers {
		layer.Reset()
	}
}

// Truncate forgets the tokens from position n on, so that others may follow there. A
// rolling cache can be truncated to 0 only.
func (c *GPTCache) Truncate(n int) error {
	for _, layer := range c.layers {
		if err := layer.Truncate(n); err != nil {
			return err
		}
	}
	return nil
}

// ForwardCached maps the ids (B, T) or (T) of a chunk to logits (…, V) of the token that
// follows it. start is an int or int64 scalar that each run gives anew: the number of
// tokens before the chunk, which the cache has seen. Each run puts the chunk there.
// Together they may be at most the model's Context; more is an error of the run.
func (m *GPT) ForwardCached(b *Build, ids, start *G.Node, cache *GPTCache) (*G.Node, error) {
	var f expr.Formula
	x := f.Of(m.transformCached(b, ids, start, cache))
	logits := f.Of(m.score(b, f.Of(graph.LastRow(x)))) // of one row, not of T
	return result(m.name, &f, logits)
}

// ForwardCachedAll is ForwardCached with the logits (…, T, V) of the tokens that follow
// each of the chunk's.
func (m *GPT) ForwardCachedAll(b *Build, ids, start *G.Node, cache *GPTCache) (*G.Node, error) {
	var f expr.Formula
	logits := f.Of(m.score(b, f.Of(m.transformCached(b, ids, start, cache))))
	return result(m.name, &f, logits)
}

// transformCached is transform of a chunk.
func (m *GPT) transformCached(b *Build, ids, start *G.Node, cache *GPTCache) (*G.Node, error) {
	if err := checkIDs(m.name, "ids", b, ids, m.config.ContextLength); err != nil {
		return nil, err
	}
	if cache == nil {
		return nil, errorf(m.name, "cache: got nil, want one of NewCache")
	}
	if len(cache.layers) != len(m.blocks) {
		return nil, errorf(m.name, "cache: got one of %d blocks, want %d", len(cache.layers), len(m.blocks))
	}
	var f expr.Formula
	positions := f.Of(graph.PositionRows(f.Of(b.node(m.positions)), start, last(ids)))
	x := f.Of(m.transform(b, ids, positions, start, cache))
	return f.Result(x)
}
