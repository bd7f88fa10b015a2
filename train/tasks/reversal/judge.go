package reversal

import (
	"context"
	"maps"
	"slices"

	"attention/graph"
	"attention/internal/dense"
	"attention/internal/expr"
	"attention/layers"
	"attention/train"
	"attention/train/tasks"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Exact returns the share of new strings of each length, from Shortest to Longest, that the model writes right to the
// last letter. It draws a batch of s for each length. One pass with the right answer as its input decides it: up to the
// first wrong letter, the model writes the same letters itself.
func (m *Model) Exact(ctx context.Context, s *Strings) ([]float64, error) {
	next, err := m.writer(len(s.lengths))
	if err != nil {
		return nil, err
	}
	shares := make([]float64, 0, Longest-Shortest+1)
	for length := Shortest; length <= Longest; length++ {
		s.draw(func(int) int { return length })
		got, err := next(ctx, s.batch.Inputs)
		if err != nil {
			return nil, err
		}
		right := 0
		for row := range s.lengths {
			if slices.Equal(got[row*Longest:][:length], s.targets[row*Longest:][:length]) {
				right++
			}
		}
		shares = append(shares, float64(right)/float64(len(s.lengths)))
	}
	return shares, nil
}

// Write returns what the model writes for each string of the batch, the likeliest letter each time, and $ for the end.
func (m *Model) Write(ctx context.Context, s *Strings) ([]string, error) {
	next, err := m.writer(len(s.lengths))
	if err != nil {
		return nil, err
	}
	values := maps.Clone(s.batch.Inputs)
	own := tasks.Ids(values, targetInput, len(s.lengths), Longest)
	copy(own, s.target)
	ids, err := tasks.Greedy(own, len(s.lengths), func() ([]int, error) { return next(ctx, values) })
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(s.lengths))
	for row, n := range s.lengths {
		texts[row] = spell(ids[row*Longest:][:n-1])
	}
	return texts, nil
}

// writer returns a function that returns the likeliest next letters (B, T) at all positions of the targets.
func (m *Model) writer(size int) (next func(context.Context, train.Values) ([]int, error), err error) {
	p, err := m.predictor(size, func(b *layers.Build, source, target, lengths *G.Node) (G.Nodes, error) {
		ids, err := graph.ArgMax(b.Of(m.Forward(b, source, target, lengths)), graph.ReduceConfig{Dim: []int{-1}})
		return G.Nodes{ids}, err
	})
	return func(ctx context.Context, v train.Values) ([]int, error) {
		ids, err := p.Run(ctx, v)
		if err != nil {
			return nil, err
		}
		return ids[0].Ints(), nil
	}, err
}

// Weights returns the attention weights (T, S) of each head for the first string of the batch, from each letter that is
// written, with the right ones before it, to each letter of the string and its end. A model without attention has none.
func (m *Model) Weights(ctx context.Context, s *Strings) (heads [][]float64, err error) {
	p, err := m.predictor(len(s.lengths), func(b *layers.Build, source, target, lengths *G.Node) (G.Nodes, error) {
		n, err := m.nodes(b, source, target, lengths)
		return optional(n.weights), err
	})
	if p == nil || err != nil {
		return nil, err
	}
	values, err := p.Run(ctx, s.batch.Inputs)
	if err != nil {
		return nil, err
	}
	return headsOf(values[0], s.lengths[0]-1), nil
}

// headsOf returns the weights (T, S) of each head of (B, H, Longest, Longest+1) for the first string, which has n
// letters.
func headsOf(weights *tensor.Dense, n int) (heads [][]float64) {
	all := dense.Float64s(weights)
	for padded := range slices.Chunk(all[:len(all)/weights.Shape()[0]], Longest*(Longest+1)) {
		var head []float64
		for row := range n {
			head = append(head, padded[row*(Longest+1):][:n+1]...)
		}
		heads = append(heads, head)
	}
	return heads
}

// optional returns those of some nodes that are there.
func optional(nodes ...*G.Node) (there G.Nodes) {
	for _, n := range nodes {
		if n != nil {
			there = append(there, n)
		}
	}
	return there
}

// predictor returns a predictor of the nodes that a function makes of the inputs of size strings, or nil if it makes
// none.
func (m *Model) predictor(size int, make func(b *layers.Build, source, target, lengths *G.Node) (G.Nodes, error),
) (p *train.Predictor, err error) {
	err = expr.Building(func() error {
		b := layers.NewBuild(m.Params(), layers.Eval)
		source, target, lengths := inputs(b, size)
		nodes, err := make(b, source, target, lengths)
		if len(nodes) == 0 || err != nil {
			return err
		}
		p, err = train.NewPredictor(b, nodes...)
		return err
	})
	return p, err
}
