package graph

import (
	"fmt"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// AttentionStats are statistics of the weights of a fused attention, which never stores the weights: a number for each
// head and query, (…, H, T), about the weights before dropout. They are computed in the same pass as the output and
// cost next to nothing; no gradient flows through them. H is missing if the attention has no axis of heads.
//
// A row whose keys are all hidden has no largest score: LogSumExp, MaxScore and MaxProduct are −∞, and the other
// statistics are 0. (With a sink, its LogSumExp is the sink's score, and its Sink is 1.)
//
// With Sigmoid, the weights need not add up to 1. Their sum is exp(LogSumExp), and MaxScore is the largest argument of
// the sigmoid. Entropy, First, Own, Previous and Distance use the weights divided by their sum; Largest uses the
// weights themselves.
//
// Largest and LargestTo process the scores a second time, at about the cost of a forward pass without values.
type AttentionStats struct {
	LogSumExp *G.Node // log Σ exp(score), including the sink's: a weight is exp(score − LogSumExp)
	MaxScore  *G.Node // the largest score that the softmax gets: capped, with biases
	// MaxProduct is the largest scale·q·k of the keys that the query sees, before cap and
	// biases (S_max in Kimi Team 2025).
	MaxProduct *G.Node
	// Entropy is −Σ w·ln w over the keys, in nats: 0 for a weight of 1, ln n for n equal
	// ones. Without sinks it is ln Σe^(s−m) − Σ w·(s−m).
	Entropy  *G.Node
	First    *G.Node // the weight of key 0
	Own      *G.Node // of the query's own position, key t + offset; 0 if there is none
	Previous *G.Node // of the key before that; 0 if there is none
	Sink     *G.Node // the share of the sink, which with the keys' weights makes 1; 0 if there are no sinks
	Distance *G.Node // Σ w·|t + offset − s| over the keys s: the mean distance of the keys from the query

	pass *secondPass
}

// rows returns the statistics in the order in which fusedAttention writes them, after the
// log-sum-exps.
func (s *AttentionStats) rows() []**G.Node {
	return []**G.Node{&s.MaxScore, &s.MaxProduct, &s.Entropy, &s.First, &s.Own, &s.Previous, &s.Sink, &s.Distance}
}

// rowStatistics is the number of these statistics.
const rowStatistics = 8

// statistics returns the statistics, each a part of the vector that fusedAttention computes, the last of these nodes.
func (f fused) statistics(in G.Nodes) (*AttentionStats, error) {
	s, both := &AttentionStats{pass: &secondPass{f, in}}, in[len(in)-1]
	_, axes := f.sizes(shapesOf(in))
	shape := axes.RowShape()
	n := shape.TotalSize()
	from := both.Shape().TotalSize() - (kernel.RowNumbers+rowStatistics)*n
	take := func(name string, to **G.Node) (err error) {
		part := keptPart{outShape: outShape{shape}, Name: name, From: from}
		part.FillsInfinity = true // a row that sees no key has no largest score
		*to, err = apply(part, both)
		from += n
		return err
	}
	if err := take("LogSumExp", &s.LogSumExp); err != nil {
		return nil, err
	}
	from += (kernel.RowNumbers - 1) * n
	for i, to := range s.rows() {
		if err := take(statisticNames[i], to); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// statisticNames are the names of the statistics' ops.
var statisticNames = [rowStatistics]string{
	"MaxScore", "MaxProduct", "Entropy", "FirstWeight", "OwnWeight", "PreviousWeight", "SinkShare", "Distance",
}

// statsOf splits the numbers behind the log-sum-exps of the rows into the kernel's statistics.
func statsOf[F kernel.Float](rest []F, rows, offset int) kernel.RowStatistics[F] {
	next := func() (part []F) {
		part, rest = rest[:rows:rows], rest[rows:]
		return part
	}
	return kernel.RowStatistics[F]{MaxScore: next(), MaxProduct: next(), Entropy: next(),
		First: next(), Own: next(), Previous: next(), Sink: next(), Distance: next(), Offset: offset}
}

// Largest returns the weights at a coarser resolution, (…, H, ⌈T/height⌉, ⌈S/width⌉): the largest weight of each cell
// of height queries and width keys (torch's max_pool2d with ceil_mode). Cells at the end may be smaller. The weight of
// a hidden key is 0.
func (s *AttentionStats) Largest(height, width int) (*G.Node, error) {
	if min(height, width) < 1 || max(height, width) > dense.MaxElements {
		return nil, fmt.Errorf("graph: Largest: cells: got %d by %d, want from 1 to %d queries and keys",
			height, width, dense.MaxElements)
	}
	return s.largest("Largest", weightCells{Height: height, Width: width})
}

// LargestTo is Largest with at most rows rows and columns columns of cells, (…, H, min(T, rows), min(S, columns)):
// query t is in row t·rows/T, key s in column s·columns/S.
func (s *AttentionStats) LargestTo(rows, columns int) (*G.Node, error) {
	if min(rows, columns) < 1 {
		return nil, fmt.Errorf("graph: LargestTo: cells: got %d rows and %d columns, want at least 1 each", rows,
			columns)
	}
	return s.largest("LargestTo", weightCells{Height: rows, Width: columns, Even: true})
}

// largest applies the op that processes the scores a second time.
func (s *AttentionStats) largest(name string, c weightCells) (*G.Node, error) {
	if s.pass == nil {
		return nil, fmt.Errorf("graph: %s: got the zero value of statistics, want those of an attention", name)
	}
	c.fused = s.pass.fused
	return applyTyped(largestWeights[float32]{weightCells: c}, largestWeights[float64]{weightCells: c}, s.pass.in...)
}

// secondPass holds the data of a second pass over the scores: the settings of a fused attention and the inputs of its
// op.
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
