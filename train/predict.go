package train

import (
	"errors"
	"fmt"
	"slices"

	"attention/graph/machine"
	"attention/internal/dense"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Predict computes nodes of the build's graph, which trains nothing, and returns their
// values in order, each with memory of its own. v holds a value for every input that they
// depend on; other values, such as a batch's labels, are not read. A graph with dropout is
// refused: build an Eval one. Predict plans the graph in each call; machine.New plans one
// that runs often.
func Predict(b *layers.Build, v Values, out ...*G.Node) ([]*tensor.Dense, error) {
	values, err := predict(b, v, out)
	if err != nil {
		return nil, fmt.Errorf("train: predict: %w", err)
	}
	return values, nil
}

func predict(b *layers.Build, v Values, out G.Nodes) ([]*tensor.Dense, error) {
	if b == nil || b.Graph() == nil {
		return nil, errors.New("build: got none, want one of layers.NewBuild")
	}
	if err := b.Err(); err != nil {
		return nil, err
	}
	if err := checkOutputs(b, out); err != nil {
		return nil, err
	}
	reached := b.Graph().ExactSubgraphRoots(out...).AllNodes()
	if key := b.DropoutKey(); key != nil && slices.Contains(reached, key) {
		return nil, fmt.Errorf("build: got a %v graph with dropout, want an %v one", b.Mode(), layers.Eval)
	}
	pr, read := program{inputs: map[string]*G.Node{}}, Values{}
	for name, n := range b.Inputs() {
		if slices.Contains(reached, n) {
			pr.inputs[name], read[name] = n, v[name]
		}
	}
	if err := pr.bind(read); err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	m, err := machine.New(out...)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	if err := m.RunAll(); err != nil {
		return nil, err
	}
	values := make([]*tensor.Dense, len(out))
	for i, n := range out {
		if values[i], err = dense.Copy(n.Value()); err != nil {
			return nil, fmt.Errorf("output %d: %w", i, err)
		}
	}
	return values, nil
}

// checkOutputs refuses what is no node of the build's graph.
func checkOutputs(b *layers.Build, out G.Nodes) error {
	if len(out) == 0 {
		return errors.New("outputs: got none, want a node")
	}
	for i, n := range out {
		if n == nil {
			return fmt.Errorf("output %d: got nil, want a node", i)
		}
		if n.Graph() == nil || n.Graph() != b.Graph() {
			return fmt.Errorf("output %d: got a node of another graph, want one of the build's", i)
		}
	}
	return nil
}
