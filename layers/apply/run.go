package apply

import (
	"fmt"
	"slices"

	"attention/graph/machine"
	"attention/internal/dense"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// compute returns output, weights and, if the input holds grad_output, the gradients.
func (l *Layer) compute(dt tensor.Dtype, weights, input *tensorFile) (tensors []Tensor, err error) {
	// Gorgonia panics on some operations it does not support.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("layer %s: panic: %v", l.Name, r)
		}
	}()
	names, nodes, err := l.graph(dt, weights, input)
	if err != nil {
		return nil, err
	}
	m, err := machine.New(nodes...)
	if err != nil {
		return nil, err
	}
	if err := m.RunAll(); err != nil {
		return nil, err
	}
	for i, n := range nodes {
		value, err := dense.RowMajor(n.Value())
		if err != nil {
			return nil, err
		}
		tensors = append(tensors, Tensor{names[i], value})
	}
	return tensors, nil
}

// graph builds the layer's graph and binds all values. It returns the names and nodes of the
// tensors to write.
func (l *Layer) graph(dt tensor.Dtype, weights, input *tensorFile) (names []string, nodes G.Nodes, err error) {
	p := layers.NewBlankParams(dt)
	forward, err := l.build(p.Scope(""))
	if err != nil {
		return nil, nil, err
	}
	for name := range p.Shapes() {
		value, err := weights.dense(name, realNumbers, dt)
		if err != nil {
			return nil, nil, err
		}
		if err := p.Set(name, value); err != nil {
			return nil, nil, err
		}
	}
	b := layers.NewBuild(p, layers.Eval)
	var wrt G.Nodes
	for _, t := range l.inputs() {
		if !input.has(t.name) {
			continue
		}
		value, err := input.dense(t.name, t.kind, dt)
		if err != nil {
			return nil, nil, err
		}
		n := bind(b, t.name, value)
		if t.kind == realNumbers {
			wrt = append(wrt, n)
		}
	}
	out, attn := forward(b, b.Inputs())
	if b.Err() != nil {
		return nil, nil, b.Err()
	}
	names, nodes = []string{"output", "weights"}, G.Nodes{out, attn}
	if input.has(gradOutput) {
		wrt = append(wrt, learnables(b)...)
		grads, err := backpropagate(b, out, input, wrt)
		if err != nil {
			return nil, nil, err
		}
		for i, n := range wrt {
			names, nodes = append(names, "grad."+n.Name()), append(nodes, grads[i])
		}
	}
	for _, n := range b.Graph().AllNodes() {
		if err := checkElements(l.Name, n.Shape()); err != nil {
			return nil, nil, err
		}
	}
	return names, nodes, nil
}

// backpropagate returns the gradients of Σ output·grad_output with respect to nodes.
func backpropagate(b *layers.Build, out *G.Node, input *tensorFile, wrt G.Nodes) (G.Nodes, error) {
	if got := input.shape(gradOutput); !slices.Equal(got, out.Shape()) {
		return nil, input.fail(gradOutput, "shape %v, want %v as the output", got, out.Shape())
	}
	value, err := input.dense(gradOutput, realNumbers, out.Dtype())
	if err != nil {
		return nil, err
	}
	upstream := bind(b, gradOutput, value)
	if b.Err() != nil {
		return nil, b.Err()
	}
	return G.Backpropagate(G.Nodes{out}, G.Nodes{upstream}, wrt)
}

// bind makes an input with a value.
func bind(b *layers.Build, name string, value *tensor.Dense) *G.Node {
	n := b.InputOf(value.Dtype(), name, value.Shape()...)
	return b.Of(n, G.Let(n, value))
}

// learnables returns the nodes of the parameters in the order in which the parameters were made.
func learnables(b *layers.Build) (nodes G.Nodes) {
	named := map[string]*G.Node{}
	for _, n := range b.Learnables() {
		named[n.Name()] = n
	}
	for name := range b.Params().Shapes() {
		nodes = append(nodes, named[name])
	}
	return nodes
}

// maxElements is the maximum number of elements of a tensor of the graph: 4 GiB in
// float32. Scores grow with the square of the length, so a small file can ask for
// more memory than any machine has.
const maxElements = 1 << 30

// checkElements returns an error for a tensor that is too large.
func checkElements(layer string, shape tensor.Shape) error {
	elements := 1
	for _, d := range shape {
		if d > maxElements/elements {
			return fmt.Errorf("layer %s: a tensor of the computation has shape %v, want at most %d elements in each",
				layer, shape, maxElements)
		}
		elements *= max(d, 1)
	}
	return nil
}
