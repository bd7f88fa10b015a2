package apply

import (
	"context"
	"fmt"
	"slices"

	"attention/graph/machine"
	"attention/internal/safetensors"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// maxElements is the maximum number of elements of a tensor of the graph: 4 GiB in
// float32. Scores grow with the square of the length, so a small file can ask for
// more memory than any machine has.
const maxElements = 1 << 30

// layerGraph is a layer's graph on its inputs, with the nodes to be written.
type layerGraph struct {
	build *layers.Build
	names []string
	nodes G.Nodes
}

// runLayer computes the layer on checked files: output, weights and, if the input
// holds grad_output, the gradients. It returns early when ctx ends.
func runLayer(
	ctx context.Context, l *layer, dt tensor.Dtype, weights, input *tensorFile,
) ([]safetensors.Tensor, error) {
	type outcome struct {
		tensors []safetensors.Tensor
		err     error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		// Gorgonia panics on some operations it does not support.
		defer func() {
			if r := recover(); r != nil {
				o.err = fmt.Errorf("layer %s: panic: %v", l.name, r)
			}
			done <- o
		}()
		var g *layerGraph
		if g, o.err = buildLayer(l, dt, weights, input); o.err == nil {
			o.tensors, o.err = g.run()
		}
	}()
	select {
	case o := <-done:
		return o.tensors, o.err
	case <-ctx.Done():
		return nil, errInterrupted
	}
}

// buildLayer builds the graph, with all values bound.
func buildLayer(l *layer, dt tensor.Dtype, weights, input *tensorFile) (*layerGraph, error) {
	p := layers.NewBlankParams(dt)
	forward, err := l.build(p.Scope(""))
	if err != nil {
		return nil, err
	}
	for name := range p.Shapes() {
		if err := p.Set(name, weights.dense(name, realNumbers, dt)); err != nil {
			return nil, err
		}
	}
	g := &layerGraph{build: layers.NewBuild(p, layers.Eval)}
	in, err := g.inputs(l, input, dt)
	if err != nil {
		return nil, err
	}
	out, attention, err := forward(g.build, in)
	if err != nil {
		return nil, err
	}
	g.want("output", out)
	g.want("weights", attention)
	if input.has(gradOutput) {
		if err := g.differentiate(l, dt, input, in, out); err != nil {
			return nil, err
		}
	}
	return g, g.checkMemory(l)
}

// inputs makes the nodes of the given inputs.
func (g *layerGraph) inputs(l *layer, f *tensorFile, dt tensor.Dtype) (map[string]*G.Node, error) {
	in := map[string]*G.Node{}
	for _, t := range l.inputs() {
		if !f.has(t.name) {
			continue
		}
		n, err := g.input(f, t, dt)
		if err != nil {
			return nil, err
		}
		in[t.name] = n
	}
	return in, nil
}

// input makes a node for a tensor of the input file.
func (g *layerGraph) input(f *tensorFile, t inputTensor, dt tensor.Dtype) (*G.Node, error) {
	value := f.dense(t.name, t.kind, dt)
	n, err := g.build.InputOf(value.Dtype(), t.name, value.Shape()...), g.build.Err()
	if err != nil {
		return nil, err
	}
	return n, G.Let(n, value)
}

func (g *layerGraph) want(name string, n *G.Node) {
	g.names, g.nodes = append(g.names, name), append(g.nodes, n)
}

// differentiate adds the gradients of Σ output·grad_output with respect to the real
// inputs and the parameters.
func (g *layerGraph) differentiate(
	l *layer, dt tensor.Dtype, input *tensorFile, in map[string]*G.Node, out *G.Node,
) error {
	if got := input.shape(gradOutput); !slices.Equal(got, out.Shape()) {
		return input.fail(gradOutput, "shape %v, want %v as the output", got, out.Shape())
	}
	upstream, err := g.input(input, inputTensor{gradOutput, realNumbers}, dt)
	if err != nil {
		return err
	}
	by := map[string]*G.Node{}
	for _, n := range g.build.Learnables() {
		by[n.Name()] = n
	}
	var wrt G.Nodes
	for _, t := range l.inputs() {
		if n := in[t.name]; n != nil && t.kind == realNumbers {
			wrt = append(wrt, n)
		}
	}
	for name := range l.parameters.Shapes() {
		if by[name] == nil {
			return fmt.Errorf("layer %s does not use its parameter %s", l.name, name)
		}
		wrt = append(wrt, by[name])
	}
	grads, err := G.Backpropagate(G.Nodes{out}, G.Nodes{upstream}, wrt)
	if err != nil {
		return err
	}
	for i, n := range wrt {
		g.want("grad."+n.Name(), grads[i])
	}
	return nil
}

// checkMemory returns an error for a graph with a tensor that is too large.
func (g *layerGraph) checkMemory(l *layer) error {
	for _, n := range g.build.Graph().AllNodes() {
		if err := checkElements(l.name, n.Shape()); err != nil {
			return err
		}
	}
	return nil
}

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

// run computes the wanted nodes.
func (g *layerGraph) run() ([]safetensors.Tensor, error) {
	m, err := machine.New(g.nodes...)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	if err := m.RunAll(); err != nil {
		return nil, err
	}
	tensors := make([]safetensors.Tensor, len(g.nodes))
	for i, n := range g.nodes {
		value, ok := n.Value().(*tensor.Dense)
		if !ok {
			return nil, fmt.Errorf("%s: got a %T, want a *tensor.Dense", g.names[i], n.Value())
		}
		data, err := floatSlice(value)
		if err != nil {
			return nil, fmt.Errorf("%s %w", g.names[i], err)
		}
		tensors[i] = safetensors.Tensor{Name: g.names[i], Shape: n.Shape(), Data: data}
	}
	return tensors, nil
}
