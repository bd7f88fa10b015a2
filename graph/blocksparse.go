package graph

import (
	"cmp"
	"fmt"

	"attention/graph/mask"
	"attention/internal/config"
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// BlockSparse configures attention that is sparse by content (MoBA: Lu et al. 2025). 2025). Keys are split into blocks.
// A query sees its own block up to its own position, and among the whole blocks before that the Blocks − 1 blocks with
// the largest gates:
//
//	gate(i) = q·mean(k of block i)
//
// Of two equal gates the earlier one counts as larger, and a gate of NaN as less than any other. Each query head
// chooses for itself. The choice depends on q and k alone, not on masks. Gradients flow through the chosen blocks, not
// through the choice.
type BlockSparse struct {
	BlockSize int `json:"block_size"` // keys of a block; a multiple of 128 is fastest
	Blocks    int `json:"blocks"`     // blocks that a query sees, including its own
}

// Validate returns an error if a size is wrong.
func (c BlockSparse) Validate() error {
	if err := cmp.Or(config.AtLeast(c, 1, "BlockSize", "Blocks"),
		config.AtMost(c, dense.MaxElements, "BlockSize", "Blocks")); err != nil {
		return fmt.Errorf("graph: BlockSparse: %w", err)
	}
	return nil
}

// SparseMask returns the mask that FusedAttention and Attention apply for c: c.Mask combined with the choice of
// c.Sparse for these queries and keys. It is c.Mask if c.Sparse is nil.
func SparseMask(q, k *G.Node, c AttentionConfig) (mask.Mask, error) {
	a, err := c.resolve("SparseMask", q, k, k)
	if err != nil {
		return nil, err
	}
	return a.Mask, nil
}

// choose adds the mask of the chosen blocks to a config that is sparse.
func (a *attentionArgs) choose(x FusedInputs) error {
	if a.Sparse == nil {
		return nil
	}
	if err := a.checkSparse(); err != nil {
		return err
	}
	if a.scores.T != a.scores.S {
		return a.errorf("sparse: got T=%d queries and S=%d keys, want as many of both", a.scores.T, a.scores.S)
	}
	x = FusedInputs{Query: x.Query, Key: x.Key, Value: x.Key, Packed: x.Packed, Widths: x.Widths} // which decide
	f, in := newFused(&attentionArgs{AttentionConfig: AttentionConfig{Heads: a.Heads}, numHeads: a.numHeads,
		numKVHeads: a.numKVHeads}, x)
	f32, f64 := blockChoice[float32]{fused: f, Sparse: *a.Sparse}, blockChoice[float64]{fused: f, Sparse: *a.Sparse}
	chosen, err := applyTyped(f32, f64, in...)
	if err != nil {
		return err
	}
	a.Mask = mask.And(a.causal(), mask.Blocks{Size: a.Sparse.BlockSize, Chosen: chosen})
	a.mask, err = resolveMask(a.op, a.Mask, a.scores)
	return err
}

// checkSparse checks the sizes of a sparse config.
func (a *attentionArgs) checkSparse() error {
	if a.ExtraKeys > 0 {
		return a.errorf("extra keys: got %d, want none of sparse attention", a.ExtraKeys)
	}
	return a.Sparse.Validate()
}

// causal returns the mask, joined with one that hides the future.
func (a *attentionArgs) causal() mask.Mask {
	if m, ok := a.Mask.(mask.Causal); a.Mask == nil || ok && m.Offset <= 0 {
		return mask.Causal{Offset: m.Offset}
	}
	return mask.And(a.Mask, mask.Causal{})
}

// blockChoice computes the numbers of the blocks that queries see, (…, H, T, Blocks): from the first on, then −1. It is
// an op because no other op ranks blocks of keys.
type blockChoice[F kernel.Float] struct {
	indices
	fused
	Sparse BlockSparse
}

func (o blockChoice[F]) spec() spec {
	return spec{name: "ChooseBlocks", args: fixed(o.args), integers: true}
}

func (o blockChoice[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	_, axes := o.sizes(in)
	return append(axes.RowShape(), o.Sparse.most(axes.S)), nil
}

func (o blockChoice[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	a, _ := o.sizes(shapesOf(in))
	x, size := numbers[F](o.fused, &a, in), o.Sparse.BlockSize
	means := make([]F, a.B*a.K*a.D*kernel.MeanColumns(a.S, size))
	kernel.BlockMeans(&a, means, size, make([]int, a.B), x.K)
	for i, n := range chooseBlocks(o.Sparse, &a, []int{0}, x.Q, means) {
		out.Ints()[i] = int(n)
	}
	return nil
}

// most returns the largest number of blocks of S keys that a query sees.
func (c BlockSparse) most(S int) int { return min(c.Blocks, (S+c.BlockSize-1)/c.BlockSize) }

// chooseBlocks returns the numbers of the blocks that queries see; starts are the positions of the first queries.
func chooseBlocks[F kernel.Float](c BlockSparse, a *kernel.Attention, starts []int, q, means []F) []int64 {
	numbers := make([]int64, a.B*a.H*a.T*c.most(a.S))
	kernel.ChooseBlocks(a, numbers, c.BlockSize, starts, q, means)
	return numbers
}

// blockMeans are the means of the blocks of keys in a cache.
type blockMeans struct {
	size  int
	of    any   // []float32 or []float64
	known []int // for each sequence, the whole blocks whose means are known
}

// meansInCache returns the means of the blocks of keys in a cache, after each sequence has stored a chunk of T tokens at
// its start.
func meansInCache[F kernel.Float](c *KVCache, size int, a *kernel.Attention, starts []int, k []F) []F {
	m := &c.means
	if m.size != size {
		columns := kernel.MeanColumns(c.config.Capacity, size)
		*m = blockMeans{size: size, of: make([]F, a.B*a.K*a.D*columns), known: make([]int, a.B)}
	}
	for b := range m.known { // a chunk overwrites the tokens behind its start: their means are out of date
		m.known[b] = min(m.known[b], starts[b%len(starts)]/size)
	}
	means := m.of.([]F)
	kernel.BlockMeans(a, means, size, m.known, k)
	for b := range m.known {
		m.known[b] = (starts[b%len(starts)] + a.T) / size
	}
	return means
}

// setBlocks makes a kernel read only the chosen blocks if the mask is a choice of blocks, alone or combined with
// others.
func (f fused) setBlocks(a *kernel.Attention, in []*tensor.Dense, axes mask.Scores) error {
	rest, blocks := mask.WithoutBlocks(f.Mask)
	if blocks == nil || f.Extra > 0 || f.OneHead {
		return nil
	}
	numbers, err := blocks.Numbers(in[maskInputs:len(f.args)], axes)
	if err != nil {
		return fmt.Errorf("graph: FusedAttention: %w", err)
	}
	var others kernel.Attention
	if rest != (mask.All{}) {
		f.Mask = rest
		seen, err := f.seen(in, axes)
		if err != nil {
			return err
		}
		others.B, others.T = a.B, a.T
		setVisibility(&others, seen)
	}
	a.Chosen = &kernel.ChosenBlocks{Size: blocks.Size, Numbers: numbers, Visible: others.Visible, Shown: others.Shown}
	return nil
}
