package why

import (
	"context"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/dense"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// exam runs a model that answers pictures.
type exam struct {
	pixels  *G.Node
	answers *G.Node // (B, tiles) the likeliest digits
	weights G.Nodes // (B, H, tiles, tiles) of each block
	most    G.Nodes // (B, H, tiles) of each block: the tiles with the largest weights
	vm      *machine.Machine
}

// newExam returns the exam of a model, which takes some pictures at once.
func newExam(m eye, size int) (*exam, error) {
	b := layers.NewBuild(m.Params(), layers.Eval)
	largest := func(x *G.Node) *G.Node { return b.Of(graph.ArgMax(x, graph.ReduceConfig{Dim: []int{-1}})) }
	e := &exam{pixels: pixelsNode(b, size)}
	b.Observe("*")
	e.answers = largest(b.Of(m.Forward(b, e.pixels, m.seen)))
	for _, call := range b.Calls("*") {
		w := b.Of(call.Weights())
		e.weights, e.most = append(e.weights, w), append(e.most, largest(w))
	}
	if b.Err() != nil {
		return nil, b.Err()
	}
	wanted := append(append(G.Nodes{e.answers}, e.weights...), e.most...)
	var err error
	e.vm, err = machine.New(wanted...)
	return e, err
}

// take draws pictures. It returns the model's answers and the tiles at which each head of each block looks most.
func (e *exam) take(ctx context.Context, source *tileBatch) (answers []int, most [][]int, err error) {
	batch, err := source.Next()
	if err != nil {
		return nil, nil, err
	}
	if err := G.Let(e.pixels, batch.Inputs[pixelsInput]); err != nil {
		return nil, nil, err
	}
	if err := e.vm.Run(ctx); err != nil {
		return nil, nil, err
	}
	for _, n := range e.most {
		most = append(most, n.Value().(*tensor.Dense).Ints())
	}
	return e.answers.Value().(*tensor.Dense).Ints(), most, nil
}

// lastWeights returns a block's attention weights (B, H, tiles, tiles) on the pictures that take drew last.
func (e *exam) lastWeights(block int) []float64 {
	return dense.Float64s(e.weights[block].Value().(*tensor.Dense))
}
