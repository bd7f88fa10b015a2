package layers

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// GPTCache holds the keys and values of each block of a GPT, so that each new token
// costs one row of every product instead of the whole sequence. It belongs to no graph:
// graphs for chunks of any length share it. It is for one goroutine at a time.
type GPTCache []*graph.KVCache

// NewCache returns an empty cache. Its widths and type are set here; Capacity 0 means
// the model's ContextLength.
func (m *GPT) NewCache(c graph.KVCacheConfig) (GPTCache, error) {
	if err := made(m); err != nil {
		return nil, err
	}
	if c.Capacity == 0 {
		c.Capacity = m.config.ContextLength
	}
	var cache GPTCache
	for _, block := range m.blocks {
		layer, err := block.attention.NewCache(c)
		if err != nil {
			return nil, err
		}
		cache = append(cache, layer)
	}
	return cache, nil
}

// Len returns the number of tokens that the cache has seen: where the next chunk starts.
func (c GPTCache) Len() int {
	if len(c) == 0 {
		return 0
	}
	return c[0].Len()
}

// Reset forgets all tokens.
func (c GPTCache) Reset() {
	for _, layer := range c {
		layer.Reset()
	}
}

// ForwardCached maps the ids (B, T) or (T) of a chunk to logits (…, V) of the token that
// follows it. start is an int or int64 scalar that each run sets: the number of
// tokens before the chunk, which the cache has seen. Each run puts the chunk there. They
// may be at most the model's ContextLength together; more is an error of the run.
func (m *GPT) ForwardCached(b *Build, ids, start *G.Node, cache GPTCache) (*G.Node, error) {
	f, err := begin(b, m)
	if err != nil {
		return nil, err
	}
	x, err := m.transformCached(f, ids, start, cache)
	if err != nil {
		return nil, err
	}
	return f.result(m.score(f, f.Of(graph.LastRow(x)))) // of one row, not of T
}

// transformCached is transform of a chunk.
func (m *GPT) transformCached(f *formula, ids, start *G.Node, cache GPTCache) (*G.Node, error) {
	if err := f.checkIDs("ids", ids, m.config.ContextLength); err != nil {
		return nil, err
	}
	if cache == nil {
		return nil, errorf(m.name, "cache: got nil, want one of NewCache")
	}
	if len(cache) != len(m.blocks) {
		return nil, errorf(m.name, "cache: got one of %d blocks, want %d", len(cache), len(m.blocks))
	}
	positions := f.Of(graph.PositionRows(f.node(m.positions.weight), start, last(ids)))
	return m.transform(f, ids, positions, start, cache), nil
}
