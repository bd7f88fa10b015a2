package reversal

import (
	"context"
	"maps"
	"slices"

	"attention/graph"
	"attention/internal/dense"
	"attention/layers"
	"attention/train"
	"attention/train/tasks"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Exact returns, for each length from Shortest to Longest, the share of new strings that the model reverses without an
// error. It draws a batch of s for each length. One pass with the right answers as input is enough: up to its first
// wrong letter, the model would write the same letters itself.
func (m *Model) Exact(ctx context.Context, s *Strings) ([]float64, error) {
	next, err := m.writer()
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

// Write returns the model's output for each string of the batch, always with the most probable letter; $ is the end.
func (m *Model) Write(ctx context.Context, s *Strings) ([]string, error) {
	next, err := m.writer()
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
func (m *Model) writer() (next func(context.Context, train.Values) ([]int, error), err error) {
	f, err := layers.NewFunc(m.Params(), func(b *layers.Build, in layers.Inputs) []*G.Node {
		logits := b.Of(m.Forward(b, in[sourceInput], in[targetInput], in[lengthsInput]))
		return b.Nodes(graph.ArgMax(logits, graph.ReduceConfig{Dim: []int{-1}}))
	}, layers.FuncConfig{})
	return func(ctx context.Context, v train.Values) ([]int, error) {
		ids, err := f.Call(ctx, v)
		if err != nil {
			return nil, err
		}
		return ids[0].Ints(), nil
	}, err
}

// Weights returns the attention weights (T, S) of each head for the first string of the batch, from each written letter
// to each letter of the string and its end. The right letters are the input. A model without attention has none.
func (m *Model) Weights(ctx context.Context, s *Strings) (heads [][]float64, err error) {
	f, err := layers.NewFunc(m.Params(), m.shown, layers.FuncConfig{})
	if err != nil {
		return nil, err
	}
	shown, err := f.Call(ctx, s.batch.Inputs)
	if err != nil {
		return nil, err
	}
	heads, _ = headsAndState(shown, s.lengths[0]-1)
	return heads, nil
}

// headsAndState returns, from the results of Model.shown, the weights (T, S) of each head for the first string of a
// batch, which has n letters, or the state of a model without attention.
func headsAndState(shown []*tensor.Dense, n int) (heads [][]float64, state []float64) {
	switch {
	case len(shown) == 1:
		return nil, nil
	case shown[1].Dims() == 2:
		return nil, dense.Float64s(shown[1])
	}
	all := dense.Float64s(shown[1])
	for padded := range slices.Chunk(all[:len(all)/shown[1].Shape()[0]], Longest*(Longest+1)) {
		var head []float64
		for row := range n {
			head = append(head, padded[row*(Longest+1):][:n+1]...)
		}
		heads = append(heads, head)
	}
	return heads, nil
}
