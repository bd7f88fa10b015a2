package graph

import (
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"
	"attention/internal/parallel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// takePart returns a part of x.
//
// Gorgonia adds up the gradients of all uses of a node. The gradients of the parts of x would each be as large as x,
// with zeros outside the part's columns: three such tensors and two sums for a Split in three. To write dx only once
// instead, a part has two inputs, x and an anchor:
//
//	x ─────────────→ part → y         forward: y is some columns of x
//	x ──→ anchor ──↗
//
//	dx ←── anchor ←── token ←── dy    backward, the token being one number
//
// A part has no gradient by x. Its gradient by the anchor is a token, an op of dy that computes nothing. Gorgonia adds
// up the tokens of all parts: these are single numbers, not tensors. The gradient of the anchor by x does the work: it
// finds the tokens in that sum and the gradients dy of the tokens, and writes these side by side in one op.
func takePart(x *G.Node, p part) (*G.Node, error) {
	anchor, err := applyTyped(anchor[float32]{Of: p.Of, Cols: p.Cols}, anchor[float64]{Of: p.Of, Cols: p.Cols}, x)
	if err != nil {
		return nil, err
	}
	return applyTyped(takenPart[float32]{p}, takenPart[float64]{p}, x, anchor)
}

// part selects some columns of x, seen as a matrix with Cols columns.
type part struct {
	outShape
	Of   string // the function that made it
	Cols int
	columnRange
}

// columnRange is Width columns from column From on.
type columnRange struct{ From, Width int }

// takenPart copies some columns of x. It is an op because no other op cuts a tensor.
type takenPart[F kernel.Float] struct{ part }

func (o takenPart[F]) spec() spec {
	s := spec{name: o.Of, args: []arg{{name: "x", fixed: true}, {name: "anchor"}}}
	if o.Out.TotalSize() == o.Width { // of a single row
		s.view = &view{from: o.From}
	}
	return s
}

func (o takenPart[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	x, y := dense.Floats[F](in[0]), dense.Floats[F](out)
	parallel.For(len(y)/o.Width, copyGrain(o.Width), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			copy(y[r*o.Width:][:o.Width], x[r*o.Cols+o.From:])
		}
	})
	return nil
}

// copyGrain returns how many rows of cols numbers one goroutine should copy or add at least.
func copyGrain(cols int) int { return 1 + 1<<13/cols }

// y = some columns of x:  dx = dy in those columns.
func (o takenPart[F]) backward(_ G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	token, err := apply(partGradient{columnRange: o.columnRange}, dy)
	return G.Nodes{nil, token}, err
}

// token is a dummy number: only its position in the graph matters.
type token struct{}

func (token) shape([]tensor.Shape) (tensor.Shape, error) { return tensor.Shape{1}, nil }

func (token) forward(out *tensor.Dense, _ []*tensor.Dense) error {
	out.Zero()
	return nil
}

// anchor is the anchor of x, seen as a matrix with Cols columns. It is an op because no other op has a gradient that
// reads the graph.
type anchor[F kernel.Float] struct {
	token
	Of   string
	Cols int
}

func (o anchor[F]) spec() spec { return spec{name: o.Of, args: named("x")} }

// dx = the gradients of all parts, each in its columns. The gradient of the anchor itself
// is the sum of their tokens.
func (o anchor[F]) backward(in G.Nodes, _, sum *G.Node) (G.Nodes, error) {
	found, err := partGradients(sum, nil)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b foundGradient) int { return a.From - b.From })
	g, dys := wholeGradient[F]{outShape: outShape{in[0].Shape()}, Cols: o.Cols}, make(G.Nodes, len(found))
	for i, f := range found {
		g.Parts, dys[i] = append(g.Parts, f.columnRange), f.dy
	}
	return only(apply(g, dys...))
}

// foundGradient is the gradient dy of a part of x.
type foundGradient struct {
	columnRange
	dy *G.Node
}

// partGradients appends the gradients whose tokens are the terms of sum.
func partGradients(sum *G.Node, found []foundGradient) ([]foundGradient, error) {
	terms := inputs(sum)
	if o, ok := sum.Op().(op); ok {
		if p, ok := o.body.(partGradient); ok {
			return append(found, foundGradient{p.columnRange, terms[0]}), nil
		}
	}
	if len(terms) == 0 {
		return nil, fmt.Errorf("graph: PartGradient: got %v, want the gradients of parts alone", sum)
	}
	var err error
	for _, n := range terms {
		if found, err = partGradients(n, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// inputs returns the nodes to which an op was applied. A graph looks up nodes by an index that becomes wrong when a
// node is removed, as Grad does; a subgraph has its own index.
func inputs(n *G.Node) (in G.Nodes) {
	for it := n.Graph().Subgraph(n, n).From(n.ID()); it != nil && it.Next(); {
		in = append(in, it.Node().(*G.Node))
	}
	return in
}

// partGradient is the token of a part's gradient dy.
type partGradient struct {
	isGradient
	token
	columnRange
}

func (partGradient) spec() spec { return spec{name: "PartGradient", args: named("dy")} }

// wholeGradient copies matrices into their columns of one matrix with Cols columns. Overlapping columns are added;
// columns that no matrix covers are zero.
type wholeGradient[F kernel.Float] struct {
	isGradient
	outShape
	Cols  int
	Parts []columnRange // in the order of From
}

func (o wholeGradient[F]) spec() spec {
	return spec{name: "WholeGradient", args: make([]arg, len(o.Parts))}
}

func (o wholeGradient[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	dx, dys := dense.Floats[F](out), make([][]F, len(in))
	for i, t := range in {
		dys[i] = dense.Floats[F](t)
	}
	parallel.For(len(dx)/o.Cols, copyGrain(o.Cols), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row, done := dx[r*o.Cols:][:o.Cols], 0
			for i, p := range o.Parts {
				done = put(row, done, p.From, dys[i][r*p.Width:][:p.Width])
			}
			clear(row[done:])
		}
	})
	return nil
}

// put adds part to row at from. The first done elements of row are filled already. It returns how many elements are
// filled then.
func put[F kernel.Float](row []F, done, from int, part []F) int {
	if done < from {
		clear(row[done:from])
		done = from
	}
	n := min(done-from, len(part))
	for i, v := range part[:n] {
		row[from+i] += v
	}
	copy(row[from+n:], part[n:])
	return max(done, from+len(part))
}
