package train

import (
	"context"
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
// refused: build an Eval one. Predict plans the graph in each call; a Predictor plans it once.
func Predict(b *layers.Build, v Values, out ...*G.Node) ([]*tensor.Dense, error) {
	p, err := NewPredictor(b, out...)
	if err != nil {
		return nil, err
	}
	defer p.program.machine.Close()
	return p.Run(context.Background(), v)
}

// Predictor computes nodes of a graph that trains nothing, for one batch after another.
type Predictor struct {
	out     G.Nodes
	program program // whose inputs are those that out depends on
}

// NewPredictor plans the part of the build's graph that computes nodes. Like Predict, it refuses a graph with dropout.
func NewPredictor(b *layers.Build, out ...*G.Node) (*Predictor, error) {
	p, err := newPredictor(b, out)
	if err != nil {
		return nil, fmt.Errorf("train: predict: %w", err)
	}
	return p, nil
}

func newPredictor(b *layers.Build, out G.Nodes) (*Predictor, error) {
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
	p := &Predictor{out: out, program: program{inputs: map[string]*G.Node{}}}
	for name, n := range b.Inputs() {
		if slices.Contains(reached, n) {
			p.program.inputs[name] = n
		}
	}
	var err error
	p.program.machine, err = machine.New(out...)
	return p, err
}

// Run returns the nodes' values in order, each with memory of its own. v holds a value for
// every input that they depend on.
func (p *Predictor) Run(ctx context.Context, v Values) ([]*tensor.Dense, error) {
	values, err := p.run(ctx, v)
	if err != nil {
		return nil, fmt.Errorf("train: predict: %w", err)
	}
	return values, nil
}

func (p *Predictor) run(ctx context.Context, v Values) ([]*tensor.Dense, error) {
	read := Values{}
	for name := range p.program.inputs {
		read[name] = v[name]
	}
	if err := p.program.bind(read); err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	if err := p.program.machine.Run(ctx); err != nil {
		return nil, err
	}
	values := make([]*tensor.Dense, len(p.out))
	for i, n := range p.out {
		var err error
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
