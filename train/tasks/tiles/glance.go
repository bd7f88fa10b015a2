package tiles

import (
	"context"

	"attention/graph"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Glance has a model's answers to a batch of pictures, and its attention weights.
type Glance struct {
	Answers []int           // (B, Tiles) the likeliest digits
	Weights []*tensor.Dense // (B, H, Tiles, Tiles) of each block

	most [][]int // (B, H, Tiles) of each block: the tiles with the largest weights
}

// Glance draws a batch of pictures and runs the model on it.
func (m *Model) Glance(ctx context.Context, p *Pictures) (Glance, error) {
	run, err := m.glances()
	if err != nil {
		return Glance{}, err
	}
	return run(ctx, p)
}

// glances returns Glance as a function that keeps its graphs, for any number of batches.
func (m *Model) glances() (run func(context.Context, *Pictures) (Glance, error), err error) {
	f, err := layers.NewFunc(m.Params(), func(b *layers.Build, in layers.Inputs) []*G.Node {
		b.Observe("*")
		nodes := []*G.Node{likeliest(b, b.Of(m.Forward(b, in[pixelsInput], m.seen)))}
		for _, call := range b.Calls("*") {
			weights := b.Of(call.Weights())
			nodes = append(nodes, weights, likeliest(b, weights))
		}
		return nodes
	}, layers.FuncConfig{})
	return func(ctx context.Context, p *Pictures) (g Glance, err error) {
		batch, err := p.Next()
		if err != nil {
			return g, err
		}
		values, err := f.Call(ctx, batch.Inputs)
		if err != nil {
			return g, err
		}
		g.Answers = values[0].Ints()
		for i := 1; i < len(values); i += 2 {
			g.Weights, g.most = append(g.Weights, values[i]), append(g.most, values[i+1].Ints())
		}
		return g, nil
	}, err
}

// likeliest returns the node of the indices of the largest numbers, on the last axis.
func likeliest(b *layers.Build, x *G.Node) *G.Node {
	return b.Of(graph.ArgMax(x, graph.ReduceConfig{Dim: []int{-1}}))
}
