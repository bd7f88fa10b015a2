package record

import (
	"strings"

	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// NewProbe returns a probe of attention weights, with a note of the tokens that each is about.
func NewProbe(weights map[string]*G.Node, note func(name string) string) Probe {
	p := Probe{Tensors: weights, Notes: map[string]string{}}
	for name := range weights {
		if note != nil {
			p.Notes[name] = note(name)
		}
	}
	return p
}

// drawnQueries is the number of matrices of queries that are kept over time.
const drawnQueries = 4

// QueryParts returns parts of some of the matrices that make queries: of parameters with a part of a name, or of the
// first matrix if there is none. They have at most the rows and columns of most: a matrix may make keys and values too.
func QueryParts(p *layers.Params, name string, most Matrix) []Matrix {
	if p == nil {
		return nil
	}
	var all []Matrix
	for param, shape := range p.Shapes() {
		if shape.Dims() == 2 && strings.Contains(param, name) {
			all = append(all, Matrix{Param: param, Rows: most.Rows, Columns: most.Columns})
		}
	}
	if len(all) > 0 {
		return spreadParts(all)
	}
	for param, shape := range p.Shapes() {
		if shape.Dims() == 2 {
			return []Matrix{{Param: param}}
		}
	}
	return nil
}

// spreadParts returns the first part, the last one and some between.
func spreadParts(all []Matrix) (some []Matrix) {
	n := min(len(all), drawnQueries)
	for i := range n {
		some = append(some, all[i*(len(all)-1)/max(n-1, 1)])
	}
	return some
}
