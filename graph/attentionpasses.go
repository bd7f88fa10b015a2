package graph

import (
	"fmt"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Received returns the mass that each key receives, (…, H, S): the sum of its weights over
// the queries. A sink takes from it.
func (s *AttentionStats) Received() (*G.Node, error) {
	return s.again("Received", func(p *secondPass) (*G.Node, error) {
		return p.apply(receivedMass[float32]{fused: p.fused}, receivedMass[float64]{fused: p.fused})
	})
}

// Rows returns the weights of N chosen queries, (…, H, N, S). rows is (N), int or int64, of
// 0 to T − 1, the same for all heads.
func (s *AttentionStats) Rows(rows *G.Node) (*G.Node, error) {
	return s.again("Rows", func(p *secondPass) (*G.Node, error) {
		return p.apply(weightRows[float32]{fused: p.fused}, weightRows[float64]{fused: p.fused}, rows)
	})
}

// Pooled returns the weights at a coarser level: cut into cells of height queries and width
// keys, smaller at the end, the largest weight and the mean of each cell,
// (…, H, ⌈T/height⌉, ⌈S/width⌉) both (torch's max_pool2d and avg_pool2d with ceil_mode, and
// without count_include_pad). The weight of a hidden key is 0.
func (s *AttentionStats) Pooled(height, width int) (largest, mean *G.Node, err error) {
	if err := checkCells("Pooled", height, width); err != nil {
		return nil, nil, err
	}
	cells := weightCells{Height: height, Width: width, Means: true}
	if largest, err = s.pooled(cells, false); err != nil {
		return nil, nil, err
	}
	mean, err = s.pooled(cells, true)
	return largest, mean, err
}

// Largest returns the largest weights of Pooled alone, without the memory for means.
func (s *AttentionStats) Largest(height, width int) (*G.Node, error) {
	if err := checkCells("Largest", height, width); err != nil {
		return nil, err
	}
	return s.pooled(weightCells{Height: height, Width: width}, false)
}

func checkCells(op string, height, width int) error {
	if min(height, width) < 1 || max(height, width) > dense.MaxElements {
		return fmt.Errorf("graph: %s: cells: got %d by %d, want from 1 to %d queries and keys", op,
			height, width, dense.MaxElements)
	}
	return nil
}

// LargestTo is Largest with at most the given rows and columns of cells, (…, H, min(T, rows), min(S, columns)): query t
// lies in row t·rows/T, key s in column s·columns/S.
func (s *AttentionStats) LargestTo(rows, columns int) (*G.Node, error) {
	if min(rows, columns) < 1 {
		return nil, fmt.Errorf("graph: LargestTo: cells: got %d rows and %d columns, want at least 1 each", rows, columns)
	}
	return s.pooled(weightCells{Height: rows, Width: columns, Even: true}, false)
}

// pooled returns the largest weights of cells, or their means.
func (s *AttentionStats) pooled(c weightCells, means bool) (*G.Node, error) {
	return s.again("Pooled", func(p *secondPass) (*G.Node, error) {
		c := c
		c.fused = p.fused
		all, err := p.apply(pooledWeights[float32]{weightCells: c}, pooledWeights[float64]{weightCells: c})
		if err != nil {
			return nil, err
		}
		_, shape := c.cells(shapesOf(p.in))
		cells := rowStatistic{outShape: outShape{shape}, Name: "MaxPooled"}
		if means {
			cells.Name, cells.From = "MeanPooled", shape.TotalSize()
		}
		return apply(cells, all)
	})
}

// again applies a second pass.
func (s *AttentionStats) again(name string, op func(p *secondPass) (*G.Node, error)) (*G.Node, error) {
	if s.pass == nil {
		return nil, fmt.Errorf("graph: %s: got the zero value of statistics, want those of an attention", name)
	}
	return op(s.pass)
}

// secondPass is what goes over the scores again: the settings of a fused attention and the
// inputs of its output's op.
type secondPass struct {
	fused
	in G.Nodes
}

func (p *secondPass) apply(f32, f64 body, more ...*G.Node) (*G.Node, error) {
	return applyTyped(f32, f64, append(p.in[:len(p.in):len(p.in)], more...)...)
}

// fixedArgs returns the arguments of a second pass: no gradient flows through it.
func (f fused) fixedArgs(more ...arg) []arg {
	args := f.args(append([]arg{{name: "both"}}, more...)...)
	for i := range args {
		args[i].fixed = true
	}
	return args
}

// bindAgain returns the kernel's view of one run, and the numbers of the rows.
func bindAgain[F kernel.Float](f fused, in []*tensor.Dense) (a kernel.Attention, lse []F, err error) {
	if a, err = f.bind(in); err != nil {
		return a, nil, err
	}
	rows := a.B * a.H * a.T
	return a, dense.Floats[F](in[len(f.in)])[rows*a.DV:][:kernel.RowNumbers*rows], nil
}

// keyShape returns the shape of what has a number for each head and key, (…, H, S).
func (f fused) keyShape(in []tensor.Shape) tensor.Shape {
	a, axes := f.sizes(in)
	shape := axes.RowShape()
	shape[len(shape)-1] = a.S
	return shape
}

type receivedMass[F kernel.Float] struct {
	isGradient
	fused
}

func (o receivedMass[F]) spec() (string, []arg) { return "Received", o.fixedArgs() }

func (o receivedMass[F]) shape(in []tensor.Shape) (tensor.Shape, error) { return o.keyShape(in), nil }

func (o receivedMass[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	a, lse, err := bindAgain[F](o.fused, in)
	if err != nil {
		return err
	}
	kernel.AttentionReceived(&a, dense.Floats[F](out), lse, numbers[F](o.fused, &a, in))
	return nil
}

type weightRows[F kernel.Float] struct {
	isGradient
	fused
}

func (o weightRows[F]) spec() (string, []arg) {
	return "Rows", o.fixedArgs(arg{name: "rows", integer: true})
}

func (o weightRows[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	rows, shape := in[len(in)-1], o.keyShape(in)
	if rows.Dims() != 1 {
		return nil, &ShapeError{"Rows", "rows", rows, "(N)"}
	}
	return append(shape[:len(shape)-1], rows[0], last(shape)), nil
}

func (o weightRows[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	a, lse, err := bindAgain[F](o.fused, in)
	if err != nil {
		return err
	}
	var rows []int
	for i, t := range dense.Ints(in[len(in)-1]) {
		if t < 0 || t >= int64(a.T) {
			return fmt.Errorf("graph: Rows: rows: got %d at %d, want from 0 to T−1=%d", t, i, a.T-1)
		}
		rows = append(rows, int(t))
	}
	kernel.AttentionRows(&a, dense.Floats[F](out), rows, lse, numbers[F](o.fused, &a, in))
	return nil
}

// weightCells cuts weights into cells of Height queries and Width keys or, if it is even, into Height rows and Width
// columns of cells.
type weightCells struct {
	fused
	Height, Width int
	Even, Means   bool // Means is whether the means of cells are computed, too
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

// pooledWeights computes the cells' largest weights and, after them in a vector, their means if it is to.
type pooledWeights[F kernel.Float] struct {
	isGradient
	weightCells
}

func (o pooledWeights[F]) spec() (string, []arg) { return "Pooled", o.fixedArgs() }

func (o pooledWeights[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	_, shape := o.cells(in)
	if o.Means {
		return tensor.Shape{2 * shape.TotalSize()}, nil
	}
	return tensor.Shape{shape.TotalSize()}, nil
}

func (o pooledWeights[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	a, lse, err := bindAgain[F](o.fused, in)
	if err != nil {
		return err
	}
	largest, means := dense.Floats[F](out), []F(nil)
	if o.Means {
		n := len(largest) / 2
		largest, means = largest[:n], largest[n:]
	}
	cells, _ := o.cells(shapesOf(in))
	kernel.AttentionPooled(&a, largest, means, cells, lse, numbers[F](o.fused, &a, in))
	return nil
}
