package forward

import (
	"math"

	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// Overview is the weights of a head at the scale of a screen: the largest weight of each block of 2^Level queries and
// keys, NaN where the mask hides all of the block.
type Overview struct {
	Level   int       `json:"level"`
	Rows    int       `json:"rows"`
	Cols    int       `json:"cols"`
	Weights []float32 `json:"-"` // (Rows, Cols)
}

// Overview computes the overview of the weights of a head with at most side rows and columns.
func (l *Layer) Overview(head, side int) (*Overview, error) {
	o := new(Overview)
	for max(l.T, l.S) > side<<o.Level {
		o.Level++
	}
	block := 1 << o.Level
	o.Rows, o.Cols = (l.T+block-1)/block, (l.S+block-1)/block
	g, err := l.newHeadGraph(head, func(s *graph.AttentionStats) (*G.Node, error) { return s.Largest(block, block) })
	if err != nil {
		return nil, err
	}
	defer g.machine.Close() // it is not kept, since it is as large as the weights
	if err := g.run(head); err != nil {
		return nil, err
	}
	o.Weights = float32sOf(g.largest)
	of := func(at int) int { return at >> o.Level }
	l.hide(head, o.Weights, float32(math.NaN()), o.Cols, of, of)
	return o, nil
}
