package record

import (
	"strings"

	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// NewProbe returns a probe of attention weights, with a note that lists the tokens.
func NewProbe(weights map[string]*G.Node, note func(name string) string) Probe {
	p := Probe{Tensors: weights, Notes: map[string]string{}}
	for name := range weights {
		if note != nil {
			p.Notes[name] = note(name)
		}
	}
	return p
}

// drawnQueries is the number of query matrices that are recorded.
const drawnQueries = 4

// QueryParts returns parts of some of the matrices that compute queries: of the parameters whose names contain a given
// part, or of the first matrix if there is none. The parts have at most the rows and columns of most, since a matrix
// may also compute keys and values.
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

// spreadParts returns the first part, the last one and some in between.
func spreadParts(all []Matrix) (some []Matrix) {
	n := min(len(all), drawnQueries)
	for i := range n {
		some = append(some, all[i*(len(all)-1)/max(n-1, 1)])
	}
	return some
}
