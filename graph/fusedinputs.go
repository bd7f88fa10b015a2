package graph

import (
	"fmt"

	"attention/internal/dense"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// FusedInputs are the inputs of a FusedAttention and the choice of its results.
type FusedInputs struct {
	Query, Key, Value *G.Node // (…, T, H·D), (…, S, K·D), (…, S, K·Dv)

	// Packed is queries, keys and values side by side in the rows of one tensor (…, T, H·D + K·D + K·Dv), the result of
	// one product, in place of Query, Key and Value. Widths are H·D, K·D and K·Dv. The op reads the parts in place and
	// writes their gradients there. The result equals the result for the parts that Split returns, to the bit if D and Dv
	// are 2 or more. The config's Heads is at least 1.
	Packed *G.Node
	Widths [3]int

	// Stats requests statistics of the weights. The output is the same, to the bit or, with a config's Sparse, to
	// rounding. Query t has the position of key t + Offset: 0 if queries and keys are the same tokens, S − T if the
	// queries are the last of them.
	Stats  bool
	Offset int

	// Head requests the statistics of one head in place of an output. It is an int or int64 node; its value in a run is
	// the number of the head, from 0 to H − 1, so one graph serves all heads. The statistics have H = 1 and equal the
	// head's statistics from a run of all heads, but they need no values, and memory for one head only. Their rounding
	// errors are smaller: the log-sum-exp sums up the sums of tiles. The config's Heads is at least 1.
	Head *G.Node

	// Cache holds the tokens before a chunk of new tokens, which attend to both. Start is the number of tokens before the
	// chunk: an int or int64 that each run sets, () for all sequences or (…, 1) for each. See KVCache.
	Cache *KVCache
	Start *G.Node
}

// isCached reports whether the attention is to a cache.
func (x FusedInputs) isCached() bool { return x.Cache != nil || x.Start != nil }

// packing returns the widths of the parts of Packed.
func (x FusedInputs) packing() packing {
	if x.Packed == nil {
		return separate
	}
	return packing(x.Widths)
}

// check returns an error for inputs that exclude each other.
func (x FusedInputs) check() error {
	for _, pair := range []struct {
		both       bool
		name, with string
	}{
		{x.Packed != nil && (x.Query != nil || x.Key != nil || x.Value != nil), "packed", "q, k or v"},
		{x.Packed != nil && x.Head != nil, "packed", "head"},
		{x.isCached() && x.Packed != nil, "cache", "packed"},
		{x.isCached() && (x.Stats || x.Head != nil), "cache", "stats or head"},
	} {
		if pair.both {
			return fmt.Errorf("graph: FusedAttention: %s: got one beside %s, want one or the other", pair.name,
				pair.with)
		}
	}
	return nil
}

// resolve checks the inputs of an attention without a cache, with their config.
func (x FusedInputs) resolve(c AttentionConfig) (a *attentionArgs, err error) {
	const name = "FusedAttention"
	if x.Head != nil {
		x.Value, c.Dropout = x.Key, DropoutConfig{}
	}
	if x.Packed != nil {
		a, err = x.resolvePacked(c)
	} else {
		a, err = c.resolve(name, x.Query, x.Key, x.Value)
	}
	if err != nil {
		return nil, err
	}
	if most := dense.MaxElements; x.Offset < -most || x.Offset > most {
		return nil, a.errorf("offset: got %d, want at most %d either way", x.Offset, most)
	}
	if x.Head == nil {
		return a, nil
	}
	if c.Heads < 1 {
		return nil, a.errorf("heads: got %d, want at least 1", c.Heads)
	}
	if err := checkArgs(name, []arg{{name: "q"}, {name: "head", integer: true}}, G.Nodes{x.Query, x.Head}); err != nil {
		return nil, err
	}
	if x.Head.Shape().TotalSize() != 1 {
		return nil, &ShapeError{name, "head", x.Head.Shape(), "()"}
	}
	return a, nil
}

// resolvePacked checks queries, keys and values that are packed in one tensor.
func (x FusedInputs) resolvePacked(c AttentionConfig) (*attentionArgs, error) {
	const name = "FusedAttention"
	if err := checkArgs(name, named("packed"), G.Nodes{x.Packed}); err != nil {
		return nil, err
	}
	p, shape := x.packing(), x.Packed.Shape()
	if min(p[0], p[1], p[2]) < 1 {
		return nil, fmt.Errorf("graph: %s: widths: got %v, want three of at least 1", name, x.Widths)
	}
	if c.Heads < 1 {
		return nil, fmt.Errorf("graph: %s: heads: got %d, want at least 1", name, c.Heads)
	}
	if shape.Dims() < 2 || last(shape) != p.row() {
		return nil, &ShapeError{name, "packed", shape, fmt.Sprintf("(…, T, %d) for widths %v", p.row(), p)}
	}
	parts := p.shapes(shape)
	a, err := c.resolveShapes(name, x.Packed, parts[0], parts[1], parts[2])
	if err != nil {
		return nil, err
	}
	return a, a.choose(x)
}

// packing holds the widths of queries, keys and values that are side by side in the rows of one tensor.
type packing [3]int

// separate is the packing of q, k and v in three tensors.
var separate packing

// row is the width of all three.
func (p packing) row() int { return p[0] + p[1] + p[2] }

// shapes returns the shapes of q, k and v within a tensor.
func (p packing) shapes(qkv tensor.Shape) (parts [3]tensor.Shape) {
	for i, width := range p {
		parts[i] = qkv.Clone()
		parts[i][len(parts[i])-1] = width
	}
	return parts
}

// heads returns the shapes of q, k and v for inputs of these shapes.
func (f fused) heads(in []tensor.Shape) (q, k, v tensor.Shape) {
	if f.OneHead {
		return in[0], in[1], append(in[1][:len(in[1])-1].Clone(), 0)
	}
	if f.Packed == separate {
		return in[0], in[1], in[2]
	}
	parts := f.Packed.shapes(in[0])
	return parts[0], parts[1], parts[2]
}

// shapesOf returns the shapes of tensors or nodes, nil for a missing one.
func shapesOf[T interface {
	comparable
	Shape() tensor.Shape
}](all []T) []tensor.Shape {
	var missing T
	shapes := make([]tensor.Shape, len(all))
	for i, x := range all {
		if x != missing {
			shapes[i] = x.Shape()
		}
	}
	return shapes
}
