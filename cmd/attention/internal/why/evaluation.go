package why

import (
	"context"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/expr"
	"attention/layers"
	"attention/train"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// evaluation computes nodes of a model's Eval graph, batch after batch.
type evaluation struct {
	inputs map[string]*G.Node
	nodes  G.Nodes
	vm     *machine.Machine
}

// newEvaluation returns the evaluation of the nodes that a function builds from parameters.
func newEvaluation(p *layers.Params, nodes func(b *layers.Build) G.Nodes) (e *evaluation, err error) {
	err = expr.Building(func() (err error) {
		b := layers.NewBuild(p, layers.Eval)
		e = &evaluation{nodes: nodes(b), inputs: b.Inputs()}
		if b.Err() != nil {
			return b.Err()
		}
		e.vm, err = machine.New(e.nodes...)
		return err
	})
	return e, err
}

// run returns the nodes' values on a batch, until the next run.
func (e *evaluation) run(ctx context.Context, v train.Values) ([]*tensor.Dense, error) {
	for name, n := range e.inputs {
		if v[name] == nil {
			continue // no node needs it
		}
		if err := G.Let(n, v[name]); err != nil {
			return nil, err
		}
	}
	if err := e.vm.Run(ctx); err != nil {
		return nil, err
	}
	values := make([]*tensor.Dense, len(e.nodes))
	for i, n := range e.nodes {
		values[i] = n.Value().(*tensor.Dense)
	}
	return values, nil
}

// likeliest returns the node of the classes with the largest logits, on the last axis.
func likeliest(b *layers.Build, logits *G.Node) *G.Node {
	return b.Of(graph.ArgMax(logits, graph.ReduceConfig{Dim: []int{-1}}))
}
