package graph

import (
	"cmp"
	"fmt"

	"attention/internal/dense"
	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// KVCacheConfig sizes a KVCache.
type KVCacheConfig struct {
	Batch      int // B; 0 means 1
	KeyWidth   int // of a token's keys, all heads together: K·D
	ValueWidth int // of a token's values: K·Dv
	Gates      int // log-gates of a token, whose sums the cache stores: the H of forgetting attention; 0 means none
	Capacity   int // tokens that are kept at most
	// ValuesInKeys means that the values of each head are the first numbers of its keys, as in latent attention: the cache
	// does not store them again.
	ValuesInKeys bool
	// Room is the number of tokens that the cache has memory for at first. When more tokens come, the memory doubles, up
	// to Capacity. 0 means Capacity.
	Room int

	// Rolling makes a full cache forget its oldest tokens for new ones. The result equals
	// a cache without limit under And(m, Or(SlidingWindow{Left: w−1}, Prefix{KeepFirst}))
	// with w = Capacity−KeepFirst.
	Rolling bool
	// KeepFirst is the number of first tokens that a rolling cache never forgets
	// (attention sinks: Xiao et al. 2023).
	KeepFirst int
	// Windows gives the layers of a decoder that have a window caches of the window's length. Such caches roll and cannot
	// be truncated.
	Windows bool
}

// Validate returns an error if a size is wrong.
func (c KVCacheConfig) Validate() error {
	for _, s := range []struct {
		name  string
		got   int
		least int
	}{
		{"Batch", c.Batch, 0}, {"KeyWidth", c.KeyWidth, 1}, {"ValueWidth", c.ValueWidth, 1},
		{"Gates", c.Gates, 0}, {"Capacity", c.Capacity, 1}, {"Room", c.Room, 0}, {"KeepFirst", c.KeepFirst, 0},
	} {
		if s.got < s.least {
			return fmt.Errorf("graph: KVCache: %s: got %d, want at least %d", s.name, s.got, s.least)
		}
	}
	if c.Room > c.Capacity {
		return fmt.Errorf("graph: KVCache: Room: got %d, want at most Capacity=%d", c.Room, c.Capacity)
	}
	if c.KeepFirst > 0 && (!c.Rolling || c.KeepFirst >= c.Capacity) {
		return fmt.Errorf("graph: KVCache: KeepFirst: got %d, want fewer than Capacity=%d and a rolling cache",
			c.KeepFirst, c.Capacity)
	}
	if c.ValuesInKeys && c.ValueWidth > c.KeyWidth {
		return fmt.Errorf("graph: KVCache: ValueWidth: got %d in keys, want at most KeyWidth=%d",
			c.ValueWidth, c.KeyWidth)
	}
	return c.checkRows(cmp.Or(c.Room, c.Capacity))
}

// checkRows returns an error if the memory for a number of tokens would be too large.
func (c KVCacheConfig) checkRows(rows int) error {
	if !dense.Fits(max(c.Batch, 1), rows, max(c.KeyWidth, c.ValueWidth, c.Gates)) {
		return fmt.Errorf("graph: KVCache: sizes: got %d tokens of %+v, want fewer elements", rows, c)
	}
	return nil
}

// KVCache holds the keys and values of the tokens that a model has seen, so that each new token costs one row of
// attention instead of the whole sequence. It belongs to no graph: graphs for chunks of any length share it. It must
// not be used by several goroutines at once.
//
// A FusedAttention with a cache attends from a chunk of T new tokens, at the positions Start, Start+1, …, to the chunk
// itself and to all tokens in the cache: Key and Value have T rows. Each run stores the chunk's keys and values in the
// cache. A chunk that starts before the end of the cache overwrites the tokens behind its start. With a rolling cache
// all sequences have the same Start. With ValuesInKeys, Value repeats the first numbers of each head's Key.
//
// Masks and biases count positions in the whole sequence, whatever their alignment: query t of the chunk has position
// Start+t. If the cache does not roll, Bias and Keep broadcast to (…, H, T, S) and Segments.Key is (B, S), with S =
// Capacity; a rolling cache accepts none of these. Element i of RelativeBias (H, N) belongs to the distance i − (T−1)
// between query and key; the last element also belongs to all greater distances. LogGates (…, T, H) are those of the
// chunk; a cache with Gates stores their sums up to each token. With Sparse the chunk's queries choose among all blocks
// in the cache, which must not roll.
//
// The outputs equal the outputs of one attention over the whole sequence. For this, the mask must hide the keys after
// the chunk, which are not in the cache yet: mask.Causal does, and so does mask.Prefix within the first chunk. There is
// no gradient and no dropout. The products of a chunk of one token have FullPrecision.
type KVCache struct {
	cacheBase
	config KVCacheConfig
	rows   int           // tokens that k and v have memory for
	k, v   *tensor.Dense // rows of KeyWidth and ValueWidth for each sequence; v is k if ValuesInKeys
	sums   *tensor.Dense // sums of the log-gates up to each token, float64; nil without Gates
	means  blockMeans    // means of blocks of keys, for sparse attention
}

// NewKVCache returns an empty cache with memory for keys and values of type dt, float32 or
// float64.
func NewKVCache(dt tensor.Dtype, c KVCacheConfig) (*KVCache, error) {
	if err := cmp.Or(checkCacheType("KVCache", dt), c.Validate()); err != nil {
		return nil, err
	}
	c.Batch = max(c.Batch, 1)
	rows := cmp.Or(c.Room, c.Capacity)
	k, v, sums := c.memory(dt, rows)
	return &KVCache{cacheBase: cacheBase{make([]int, c.Batch)}, config: c, rows: rows, k: k, v: v, sums: sums}, nil
}

// memory returns room for the keys, values and sums of log-gates of a number of tokens.
func (c KVCacheConfig) memory(dt tensor.Dtype, rows int) (k, v, sums *tensor.Dense) {
	if c.Gates > 0 {
		sums = tensor.New(tensor.Of(tensor.Float64), tensor.WithShape(c.Batch, rows, c.Gates))
	}
	k = tensor.New(tensor.Of(dt), tensor.WithShape(c.Batch, rows, c.KeyWidth))
	if c.ValuesInKeys {
		return k, k, sums
	}
	return k, tensor.New(tensor.Of(dt), tensor.WithShape(c.Batch, rows, c.ValueWidth)), sums
}

// grow allocates memory for n tokens of the given number of heads.
func grow[F kernel.Float](c *KVCache, heads, n int) error {
	if n <= c.rows {
		return nil
	}
	rows := min(max(n, 2*c.rows), c.config.Capacity)
	if err := c.config.checkRows(rows); err != nil {
		return err
	}
	k, v, sums := c.config.memory(c.k.Dtype(), rows)
	copyBlocks[F](k, c.k, c.config.Batch*heads)
	copyBlocks[F](v, c.v, c.config.Batch*heads)
	if sums != nil {
		copyBlocks[float64](sums, c.sums, c.config.Batch*c.config.Gates)
	}
	c.rows, c.k, c.v, c.sums = rows, k, v, sums
	return nil
}

// copyBlocks copies each block to the beginning of a longer block.
func copyBlocks[F kernel.Float](dst, src *tensor.Dense, blocks int) {
	to, from := dense.Floats[F](dst), dense.Floats[F](src)
	for i := range blocks {
		copy(to[i*len(to)/blocks:], from[i*len(from)/blocks:][:len(from)/blocks])
	}
}

// Config returns the configuration that the cache was made with.
func (c *KVCache) Config() KVCacheConfig { return c.config }

// Len returns the number of tokens in the shortest sequence of the cache: the next chunk of all sequences may start
// there.
func (c *KVCache) Len() int { return c.shortest() }

// Bytes returns the memory of keys, values and sums of log-gates at present.
func (c *KVCache) Bytes() (n int) {
	for i, x := range []*tensor.Dense{c.k, c.v, c.sums} {
		if x != nil && (i != 1 || x != c.k) {
			n += int(x.MemSize())
		}
	}
	return n
}

// Reset forgets all tokens.
func (c *KVCache) Reset() { clear(c.seen) }

// Truncate removes the tokens of all sequences from position n on, so that other tokens may replace them. A rolling
// cache has already dropped earlier tokens, so it can only be truncated to 0.
func (c *KVCache) Truncate(n int) error {
	if n < 0 || n > c.Len() || c.config.Rolling && n > 0 && n < c.Len() {
		return fmt.Errorf("graph: KVCache: length: got %d, want 0 to %d, or 0 for a rolling cache", n, c.Len())
	}
	for b := range c.seen {
		c.seen[b] = n
	}
	return nil
}

// checkStarts returns an error for a chunk of T tokens that does not follow the tokens in the cache. starts has one
// number for all sequences or one for each.
func (c *KVCache) checkStarts(starts []int, T int) error {
	for b, seen := range c.seen {
		start := starts[b%len(starts)]
		switch {
		case c.config.Rolling && start != seen:
			return fmt.Errorf("graph: KVCache: start: got %d, want %d, the number of tokens seen", start, seen)
		case start < 0 || start > seen:
			return fmt.Errorf("graph: KVCache: start: got %d, want at most %d, the number of tokens seen", start, seen)
		case !c.config.Rolling && start+T > c.config.Capacity:
			return fmt.Errorf("graph: KVCache: got tokens %d to %d, want at most Capacity=%d", start, start+T-1,
				c.config.Capacity)
		}
	}
	return nil
}

// slot returns the row of the token at a position.
func (c *KVCache) slot(position int) int {
	first := c.config.KeepFirst
	if position < first {
		return position
	}
	return first + (position-first)%(c.config.Capacity-first)
}

// Keys and values are stored head by head, (B, K, rows, D), so that a query reads the rows of
// its head in order.

// store copies the rows of a chunk (B, T, K·D) into the cache; starts has one position for all sequences or one for each.
func store[F kernel.Float](c *KVCache, cache, chunk []F, heads int, starts []int, T int) {
	ring, width := c.config.Capacity-c.config.KeepFirst, len(chunk)/(c.config.Batch*T*heads)
	for b := range c.config.Batch {
		start := starts[b%len(starts)]
		for t := range T {
			p := start + t
			if p >= c.config.KeepFirst && p < start+T-ring {
				continue // later tokens of the chunk overwrite it
			}
			for h := range heads {
				to := cache[((b*heads+h)*c.rows+c.slot(p))*width:]
				copy(to[:width], chunk[((b*T+t)*heads+h)*width:])
			}
		}
	}
}

// beside returns the rows in the first n slots of a cache, followed by the rows of a chunk (B, T, K·D): (B, K, n+T, D).
func beside[F kernel.Float](c *KVCache, cache, chunk []F, heads, n, T int) []F {
	width := len(chunk) / (c.config.Batch * T * heads)
	all := make([]F, 0, c.config.Batch*heads*(n+T)*width)
	for b := range c.config.Batch {
		for h := range heads {
			all = append(all, cache[(b*heads+h)*c.rows*width:][:n*width]...)
			for t := range T {
				all = append(all, chunk[((b*T+t)*heads+h)*width:][:width]...)
			}
		}
	}
	return all
}

// positions returns the position of the token in each slot, for sequences of equal lengths.
func (c *KVCache) positions() []int {
	n := c.seen[0]
	all := make([]int, min(n, c.config.Capacity))
	ring := c.config.Capacity - c.config.KeepFirst
	for p := range c.config.KeepFirst {
		if p < len(all) {
			all[p] = p
		}
	}
	for p := max(c.config.KeepFirst, n-ring); p < n; p++ {
		all[c.slot(p)] = p
	}
	return all
}
