package train

import (
	"errors"
	"fmt"
	"slices"

	"attention/graph/machine"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Predict computes nodes of the build's graph, which trains nothing, and returns their
// values in order, each with memory of its own. v holds a value for every input that they
// depend on; others, as of a batch's labels, are not looked at. A graph with dropout is
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
	if b == nil {
		return nil, errors.New("build: got nil, want one")
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
	pr, given := program{inputs: map[string]*G.Node{}}, Values{}
	for name, n := range b.Inputs() {
		if slices.Contains(reached, n) {
			pr.inputs[name], given[name] = n, v[name]
		}
	}
	if err := pr.bind(given); err != nil {
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
		if values[i], err = copyOf(n.Value()); err != nil {
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

// copyOf returns a copy of a node's value, that of a scalar as a tensor without axes.
func copyOf(v G.Value) (*tensor.Dense, error) {
	switch v := v.(type) {
	case *tensor.Dense:
		return v.Clone().(*tensor.Dense), nil
	case G.Scalar:
		return tensor.New(tensor.FromScalar(v.Data())), nil
	}
	return nil, fmt.Errorf("got a %T, want a tensor or a scalar", v)
}
