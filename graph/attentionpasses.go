package graph

import (
	"fmt"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Largest returns the weights at a coarser level: cut into cells of height queries and width keys, smaller at the end,
// the largest weight of each cell, (…, H, ⌈T/height⌉, ⌈S/width⌉) (torch's max_pool2d with ceil_mode). The weight of a
// hidden key is 0.
func (s *AttentionStats) Largest(height, width int) (*G.Node, error) {
	if min(height, width) < 1 || max(height, width) > dense.MaxElements {
		return nil, fmt.Errorf("graph: Largest: cells: got %d by %d, want from 1 to %d queries and keys",
			height, width, dense.MaxElements)
	}
	return s.largest("Largest", weightCells{Height: height, Width: width})
}

// LargestTo is Largest with at most the given rows and columns of cells, (…, H, min(T, rows), min(S, columns)): query t
// is in row t·rows/T, key s in column s·columns/S.
func (s *AttentionStats) LargestTo(rows, columns int) (*G.Node, error) {
	if min(rows, columns) < 1 {
		return nil, fmt.Errorf("graph: LargestTo: cells: got %d rows and %d columns, want at least 1 each", rows,
			columns)
	}
	return s.largest("LargestTo", weightCells{Height: rows, Width: columns, Even: true})
}

// largest applies the second pass over the scores.
func (s *AttentionStats) largest(name string, c weightCells) (*G.Node, error) {
	if s.pass == nil {
		return nil, fmt.Errorf("graph: %s: got the zero value of statistics, want those of an attention", name)
	}
	c.fused = s.pass.fused
	return applyTyped(largestWeights[float32]{weightCells: c}, largestWeights[float64]{weightCells: c}, s.pass.in...)
}

// secondPass is what goes over the scores again: the settings of a fused attention and the
// inputs of its output's op.
type secondPass struct {
	fused
	in G.Nodes
}

// weightCells cuts weights into cells of Height queries and Width keys or, if it is even, into Height rows and Width
// columns of cells.
type weightCells struct {
	fused
	Height, Width int
	Even          bool
}

// cells returns the cells and their shape, (…, H, rows, columns).
func (o weightCells) cells(in []tensor.Shape) (kernel.Cells, tensor.Shape) {
	a, axes := o.sizes(in)
	cells := kernel.Cells{Queries: kernel.CellsOf(a.T, o.Height), Keys: kernel.CellsOf(a.S, o.Width)}
	if o.Even {
		cells = kernel.Cells{Queries: kernel.EvenCells(a.T, min(a.T, o.Height)),
			Keys: kernel.EvenCells(a.S, min(a.S, o.Width))}
	}
	shape := axes.RowShape()
	shape[len(shape)-1] = len(cells.Queries) - 1
	return cells, append(shape, len(cells.Keys)-1)
}

// largestWeights computes the cells' largest weights. No gradient flows through it.
type largestWeights[F kernel.Float] struct {
	isGradient
	weightCells
}

func (o largestWeights[F]) spec() spec {
	return spec{name: "LargestWeights", args: fixed(append(o.args, arg{name: "all"}))}
}

func (o largestWeights[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	_, shape := o.cells(in)
	return shape, nil
}

func (o largestWeights[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	a, err := o.bind(in)
	if err != nil {
		return err
	}
	rows := a.B * a.H * a.T
	lse := dense.Floats[F](in[len(o.args)])[rows*a.DV:]
	cells, _ := o.cells(shapesOf(in))
	c := kernel.AttentionCall[F]{Attention: a, In: numbers[F](o.fused, &a, in), LSE: lse}
	c.Largest(dense.Floats[F](out), cells)
	return nil
}
