package graph

import (
	"fmt"
	"math"
	"slices"

	"attention/internal/dense"

	"gorgonia.org/tensor"
)

// placedArgs are the arguments of an op on x (…, T, E) with optional positions.
var placedArgs = []arg{{name: "x"}, {name: "positions", integer: true, optional: true}}

// checkPositions checks the shape of optional positions of the rows of x (…, T, E): () for the first row, (…, 1) for
// the first row of each batch, (T) for all rows, or (…, T) for the rows of each batch.
func checkPositions(op string, in []tensor.Shape) error {
	if in[1] == nil {
		return nil
	}
	lead, positions := in[0][:len(in[0])-1], in[1]
	t := lead[len(lead)-1:]
	each := firstOfEach(lead)
	if positions.IsScalar() || slices.Equal(positions, t) || slices.Equal(positions, lead) ||
		len(lead) > 1 && slices.Equal(positions, each) {
		return nil
	}
	want := fmt.Sprintf("(), %v, %v or %v", t, lead, each)
	if len(lead) == 1 {
		want = fmt.Sprintf("() or %v", t)
	}
	return &ShapeError{op, "positions", positions, want}
}

// firstOfEach is the shape (…, 1) of one number for each batch of rows (…, T).
func firstOfEach(lead tensor.Shape) tensor.Shape { return append(slices.Clone(lead[:len(lead)-1]), 1) }

// places are the positions of the rows of x (…, T, E).
type places struct {
	rows  int     // of x
	own   int     // number of first rows of x with positions of their own: the other rows repeat these
	start int64   // of the first row
	given []int64 // positions of these rows; nil if they count on from start
}

// placesOf reads the positions that follow x among the inputs; without any they are 0 … T−1.
func placesOf(x tensor.Shape, in []*tensor.Dense) places {
	p := places{rows: x.TotalSize() / last(x), own: x[len(x)-2]}
	if in[1] == nil {
		return p
	}
	given := dense.Ints(in[1])
	switch T := p.own; {
	case len(given) == 1:
		p.start = given[0]
	case T > 1 && slices.Equal(in[1].Shape(), firstOfEach(x[:len(x)-1])):
		p.own = p.rows
		for _, start := range given {
			for t := range T {
				p.given = append(p.given, start+int64(t))
			}
		}
	default:
		p.given, p.own = given, len(given)
	}
	return p
}

// at returns the position of one of the own rows.
func (p places) at(own int) float64 {
	if p.given != nil {
		return float64(p.given[own])
	}
	return float64(p.start + int64(own))
}

// repeated returns the smallest position and the size of the range of positions if each position occurs at least twice
// on average, so that a table pays; else n = 0.
func (p places) repeated() (first int64, n int) {
	if len(p.given) == 0 {
		return 0, 0
	}
	first, end := slices.Min(p.given), slices.Max(p.given)
	if uint64(end)-uint64(first) >= uint64(p.own/2) {
		return 0, 0
	}
	return first, int(end-first) + 1
}

// grain returns the number of own rows that, together with the rows that repeat their positions, one goroutine should
// process at least.
func (p places) grain(width int) int {
	const elements = 1 << 13
	return 1 + elements*p.own/(p.rows*width)
}

// frequencies returns base^(−2i/width), the angles at position 1.
func frequencies(base float64, width int) []float64 {
	f := make([]float64, width/2)
	for i := range f {
		f[i] = math.Pow(base, -2*float64(i)/float64(width))
	}
	return f
}
