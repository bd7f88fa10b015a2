package graph

import (
	"fmt"

	G "gorgonia.org/gorgonia"
)

// Split returns the parts of x (…, E), cut along its last axis into the given widths, which add up to E (torch.split,
// dim -1). Not all parts need be used.
func Split(x *G.Node, widths ...int) (G.Nodes, error) {
	in, err := checked("Split", named("x"), x)
	if err != nil {
		return nil, err
	}
	x = in[0]
	sum, thin := 0, len(widths) == 0
	for _, w := range widths {
		sum, thin = sum+w, thin || w < 1
	}
	if thin {
		return nil, fmt.Errorf("graph: Split: widths: got %v, want one or more of at least 1", widths)
	}
	shape := x.Shape()
	if shape.Dims() == 0 || last(shape) != sum {
		return nil, &ShapeError{"Split", "x", shape, fmt.Sprintf("(…, %d) for widths %v", sum, widths)}
	}
	return splitAlong(x, -1, widths)
}

// splitAlong returns x cut into parts of these lengths along an axis, counted from the last, −1.
func splitAlong(x *G.Node, axis int, lengths []int) (G.Nodes, error) {
	shape := x.Shape()
	axis += shape.Dims()
	behind := shape[axis+1:].TotalSize()
	parts, from := make(G.Nodes, len(lengths)), 0
	for i, n := range lengths {
		to := shape.Clone()
		to[axis] = n
		p := part{outShape{to}, "Split", shape[axis] * behind, columnRange{from, n * behind}}
		var err error
		if parts[i], err = takePart(x, p); err != nil {
			return nil, err
		}
		from += p.Width
	}
	return parts, nil
}

// Rows returns the n rows of x (R, …) from row from, as (n, …): x[from:from+n]. They are
// adjacent in memory, so a machine need not copy them.
func Rows(x *G.Node, from, n int) (*G.Node, error) {
	in, err := checked("Rows", named("x"), x)
	if err != nil {
		return nil, err
	}
	x = in[0]
	shape := x.Shape()
	if shape.Dims() == 0 {
		return nil, &ShapeError{"Rows", "x", shape, "(R, …)"}
	}
	rows := shape[0]
	if from < 0 || from >= rows {
		return nil, fmt.Errorf("graph: Rows: from: got %d, want 0 <= from < R=%d", from, rows)
	}
	if n < 1 || n > rows-from {
		return nil, fmt.Errorf("graph: Rows: n: got %d, want 1 <= n <= %d, as many as x has from row %d on",
			n, rows-from, from)
	}
	all := shape.TotalSize()
	row := all / rows
	shape[0] = n
	return takePart(x, part{outShape{shape}, "Rows", all, columnRange{from * row, n * row}})
}

// FirstRow returns the first row of each matrix of x (…, T, E), as (…, E): x[..., 0, :]. In an encoder, the first row
// represents the whole text.
func FirstRow(x *G.Node) (*G.Node, error) { return rowOf("FirstRow", x, func(int) int { return 0 }) }

// LastRow returns the last row of each matrix of x (…, T, E), as (…, E): x[..., -1, :]. A language model needs only
// this row to predict the next token.
func LastRow(x *G.Node) (*G.Node, error) {
	return rowOf("LastRow", x, func(T int) int { return T - 1 })
}

// rowOf returns one row of each matrix of x (…, T, E).
func rowOf(op string, x *G.Node, row func(T int) int) (*G.Node, error) {
	if err := checkArgs(op, named("x"), G.Nodes{x}); err != nil {
		return nil, err
	}
	shape := x.Shape()
	n := shape.Dims()
	if n < 2 {
		return nil, &ShapeError{op, "x", shape, "(…, T, E)"}
	}
	T, e := shape[n-2], shape[n-1]
	to := append(shape[:n-2].Clone(), e)
	return takePart(x, part{outShape{to}, op, T * e, columnRange{row(T) * e, e}})
}
