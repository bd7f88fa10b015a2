package layers

import (
	"cmp"

	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// DecoderCache holds, for each block of a Decoder, its memory of earlier tokens, such as keys and values, so that each
// new token costs one row of every product instead of the whole sequence. It belongs to no graph: graphs for chunks of
// any length share it. It must not be used by several goroutines at once.
type DecoderCache []AttentionCache

// NewCache returns an empty cache of the model's widths and type; Capacity 0 means the
// model's ContextLength.
func (m *Decoder) NewCache(c graph.KVCacheConfig) (DecoderCache, error) {
	c.Capacity = cmp.Or(c.Capacity, m.config.ContextLength)
	var cache DecoderCache
	for _, block := range m.blocks {
		layer, err := block.attention.newCache(c)
		if err != nil {
			return nil, err
		}
		cache = append(cache, layer)
	}
	return cache, nil
}

// Len returns the number of tokens that the cache has seen: where the next chunk starts.
func (c DecoderCache) Len() int {
	if len(c) == 0 {
		return 0
	}
	return c[0].Len()
}

// Reset forgets all tokens.
func (c DecoderCache) Reset() {
	for _, layer := range c {
		layer.Reset()
	}
}

// ForwardCached maps the ids (B, T) or (T) of a chunk to logits (…, V) of the token that follows it. start is an int or
// int64 node that each run sets to the number of tokens before the chunk, which the cache has seen: () of all sequences
// or (B, 1) of each. Each run adds the chunk to the cache. The run fails if there are more tokens in all than the
// capacity of the cache or, with LearnedPositions, than ContextLength.
func (m *Decoder) ForwardCached(b *Build, ids, start *G.Node, cache DecoderCache) (*G.Node, error) {
	f := begin(b, m.name)
	x := m.transformCached(f, ids, start, nil, cache)
	return f.result(m.score(f, f.Of(graph.LastRow(x)))) // from one row, not from T rows
}

// ForwardCachedAt is ForwardCached for chosen tokens: it returns the logits (N, V) of the tokens that follow those in
// rows, int or int64 (N), each from 0 to B·T−1, counted through the sequences of ids. Sequences of different lengths
// can be read together: pad shorter sequences with any ids, which later chunks overwrite.
//
// Linear attention cannot overwrite its states, so a model with it needs lengths, int or int64 (B): the number of valid
// tokens of each sequence. start is then the number of earlier tokens of a sequence, or 0 to start a new text. For
// other models lengths is nil.
func (m *Decoder) ForwardCachedAt(b *Build, ids, start, rows, lengths *G.Node, cache DecoderCache) (*G.Node, error) {
	f := begin(b, m.name)
	x := m.transformCached(f, ids, start, lengths, cache)
	if f.Err() != nil {
		return f.result(nil)
	}
	flat := tensor.Shape{ids.Shape().TotalSize(), last(x)} // (B·T, E)
	return f.result(m.score(f, f.Of(graph.Embedding(f.Of(G.Reshape(x, flat)), rows))))
}

// transformCached returns the vectors (…, T, E) of a chunk.
func (m *Decoder) transformCached(f *formula, ids, start, lengths *G.Node, cache DecoderCache) *G.Node {
	switch {
	case !f.isIDs("ids", ids, m.config.ContextLength):
		return f.Of(nil, nil)
	case cache == nil:
		return f.Of(nil, errorf(m.name, "cache: got nil, want one of NewCache"))
	case len(cache) != len(m.blocks):
		return f.Of(nil, errorf(m.name, "cache: got one of %d blocks, want %d", len(cache), len(m.blocks)))
	}
	var positions *G.Node
	if m.positions != nil {
		positions = f.Of(graph.PositionRows(f.node(m.positions.weight), start, last(ids)))
	}
	return m.transform(f, ids, positions, func(i int) AttentionInput {
		in := AttentionInput{Cache: cache[i], Start: start}
		if _, states := cache[i].(*linearCache); states && lengths != nil {
			in.Mask = mask.KeyLengths{Lengths: lengths}
		}
		return in
	})
}
