package why

import (
	"context"

	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// exam runs a model that answers pictures.
type exam struct{ *evaluation }

// newExam returns the exam of a model, which takes some pictures at once.
func newExam(m eye, size int) (exam, error) {
	e, err := newEvaluation(m.Params(), func(b *layers.Build) G.Nodes {
		b.Observe("*")
		nodes := G.Nodes{likeliest(b, b.Of(m.Forward(b, pixelsNode(b, size), m.seen)))}
		for _, call := range b.Calls("*") {
			weights := b.Of(call.Weights())
			nodes = append(nodes, weights, likeliest(b, weights))
		}
		return nodes
	})
	return exam{e}, err
}

// glance is what a model answers to pictures, and where it looks.
type glance struct {
	answers []int           // (B, tiles) the likeliest digits
	weights []*tensor.Dense // (B, H, tiles, tiles) of each block
	most    [][]int         // (B, H, tiles) of each block: the tiles with the largest weights
}

// take draws pictures and shows them to the model.
func (e exam) take(ctx context.Context, source *tileBatch) (g glance, err error) {
	batch, err := source.Next()
	if err != nil {
		return g, err
	}
	values, err := e.run(ctx, batch.Inputs)
	if err != nil {
		return g, err
	}
	g.answers = values[0].Ints()
	for i := 1; i < len(values); i += 2 {
		g.weights, g.most = append(g.weights, values[i]), append(g.most, values[i+1].Ints())
	}
	return g, nil
}
