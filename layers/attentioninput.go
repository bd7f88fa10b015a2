package layers

import (
	"slices"

	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

// AttentionInput is the input of one call of an Attention. All fields except Query may be nil.
type AttentionInput struct {
	Query *G.Node // (T, EmbedDim) or (B, T, EmbedDim)
	Key   *G.Node // ([B,] S, KDim); nil means Query
	Value *G.Node // ([B,] S, VDim); nil means Key

	Mask mask.Mask // hides keys that the config's Mask shows
	Bias *G.Node   // added to the scores; broadcasts to ([B,] H, T, S)

	// Positions of the queries for RoPE, int or int64: () is the first position; (B, 1), (T) and (B, T) are also possible.
	// Nil means consecutive positions, starting where Align puts the first query or, with a cache, at Start.
	Positions *G.Node
	// KeyPositions are the positions of the keys. Nil means Positions if the keys are the queries, otherwise 0, 1, …
	KeyPositions *G.Node

	// Cache holds the keys and values of the tokens before the query; each call adds the query's. Nil means no cache. With
	// a cache, Start is the number of tokens before the query, int or int64, () for all sequences or (B, 1) for each. Each
	// run sets it; see graph.KVCache.
	Cache AttentionCache // for an Attention a *graph.KVCache
	Start *G.Node
}

// AttentionCache is an attention's memory of earlier tokens: keys and values, as in graph.KVCache, or a state of fixed
// size.
type AttentionCache interface {
	Len() int             // number of tokens seen in the shortest sequence
	Reset()               // forgets all tokens
	Truncate(n int) error // removes the tokens from position n on
	Bytes() int           // memory
}

// keys returns the cache of keys and values; nil if there is none.
func (in AttentionInput) keys() *graph.KVCache {
	c, _ := in.Cache.(*graph.KVCache)
	return c
}

// complete checks an input and replaces nil by its default.
func (l *Attention) complete(b *Build, in AttentionInput) (AttentionInput, error) {
	if in.Key == nil {
		in.Key = in.Query
	}
	if in.Value == nil {
		in.Value = in.Key
	}
	if err := l.checkSequences(b, in); err != nil {
		return in, err
	}
	if err := l.checkPositions(in); err != nil {
		return in, err
	}
	if in.Cache == nil && in.Start != nil {
		return in, errorf(l.name, "start: got one without a cache, want both")
	}
	if in.Cache != nil {
		if err := l.checkCache(in); err != nil {
			return in, err
		}
		if in.Positions == nil {
			in.Positions = in.Start
		}
	}
	if in.KeyPositions == nil && in.Key == in.Query {
		in.KeyPositions = in.Positions
	}
	return in, nil
}

// checkSequences checks the shapes of queries, keys and values.
func (l *Attention) checkSequences(b *Build, in AttentionInput) error {
	f := begin(b, l.name)
	c := l.config
	if !f.isSequence("query", in.Query, c.EmbedDim, c.ContextLength) ||
		!f.isSequence("key", in.Key, c.KDim, c.ContextLength) ||
		!f.isSequence("value", in.Value, c.VDim, c.ContextLength) {
		return f.failure()
	}
	q, k, v := in.Query.Shape(), in.Key.Shape(), in.Value.Shape()
	if !slices.Equal(q[:len(q)-2], k[:len(k)-2]) {
		return errorf(l.name, "key: shape %v, want the batch of the query, which is %v", k, q)
	}
	if l.config.Latent != nil && (in.Key != in.Query || in.Value != in.Query) {
		return errorf(l.name, "key: got another sequence than the query with Latent, want the same")
	}
	if !slices.Equal(k[:len(k)-1], v[:len(v)-1]) {
		return errorf(l.name, "value: shape %v, want as many rows as the key, which is %v", v, k)
	}
	return nil
}

// checkPositions returns an error for positions that the layer does not use, and for positions of keys without those of
// queries.
func (l *Attention) checkPositions(in AttentionInput) error {
	name := "positions"
	if in.Positions == nil {
		name = "key_positions"
	}
	switch {
	case in.Positions == nil && in.KeyPositions == nil:
		return nil
	case l.config.RoPE == nil:
		return errorf(l.name, "%s: got them without RoPE, want none", name)
	case in.Positions == nil && in.Key == in.Query:
		return errorf(l.name, "%s: got them without positions, want those of the queries, which are the same tokens", name)
	}
	return nil
}

// checkCache returns an error for inputs and options that have no meaning with a cache.
func (l *Attention) checkCache(in AttentionInput) error {
	c := l.config
	switch {
	case in.keys() == nil:
		return errorf(l.name, "cache: got a %T, want one of NewCache", in.Cache)
	case in.Start == nil:
		return errorf(l.name, "start: got nil with a cache, want the number of tokens before")
	case in.Key != in.Query || in.Value != in.Query:
		return errorf(l.name, "key: got another sequence than the query with a cache, want the same")
	case c.AddBiasKV || c.AddZeroAttn:
		return errorf(l.name, "cache: got one with AddBiasKV or AddZeroAttn, want none")
	case c.ALiBi && in.keys().Config().KeepFirst > 0:
		return errorf(l.name, "cache: got one that keeps first tokens with ALiBi, whose bias grows without end, "+
			"want KeepFirst 0")
	}
	return nil
}

// NewCache returns an empty cache with the layer's widths and type; c has the other settings.
func (l *Attention) NewCache(c graph.KVCacheConfig) (*graph.KVCache, error) {
	return graph.NewKVCache(l.scope.params.dt, l.config.cacheOf(c))
}

// cacheOf returns the config of a cache with the widths of a resolved c.
func (c AttentionConfig) cacheOf(k graph.KVCacheConfig) graph.KVCacheConfig {
	a := c.cached()
	_, keyHeads, _ := a.softmaxes() // the values serve both softmaxes of differential attention
	k.KeyWidth, k.ValueWidth, k.ValuesInKeys, k.Gates = a.keyWidth(), keyHeads*a.ValueDim, c.Latent != nil, 0
	if c.Forget {
		k.Gates = c.NumHeads
	}
	return k
}

func (l *Attention) newCache(c graph.KVCacheConfig) (AttentionCache, error) {
	before, ok := mask.Reach(l.config.Mask)
	if ok && c.Windows && !c.Rolling && l.config.Sparse == nil && before+1 < c.Capacity {
		c.Rolling, c.Capacity, c.Room = true, before+1, min(c.Room, before+1)
	}
	return l.NewCache(c)
}
