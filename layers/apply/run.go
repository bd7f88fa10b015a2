package apply

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// compute returns output, weights and, if the input holds grad_output, the gradients.
func (l *Layer) compute(ctx context.Context, dt tensor.Dtype, weights, input *tensorFile) (all []Tensor, err error) {
	// Gorgonia panics on some unsupported operations.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("layer %s: panic: %v", l.Name, r)
		}
	}()
	p := layers.NewBlankParams(dt)
	forward, err := l.build(p.Scope(""))
	if err != nil {
		return nil, err
	}
	for name := range p.Shapes() {
		value, err := weights.dense(name, realNumbers, dt)
		if err != nil {
			return nil, err
		}
		if err := p.Set(name, value); err != nil {
			return nil, err
		}
	}
	values := layers.Values{}
	for _, t := range append(l.inputs(), extraSpec{name: gradOutput}) {
		if !input.has(t.name) {
			continue
		}
		if values[t.name], err = input.dense(t.name, t.kind, dt); err != nil {
			return nil, err
		}
	}
	var names []string
	var wrong error // this error needs no list of the inputs' shapes
	f, err := layers.NewFunc(p, func(b *layers.Build, in layers.Inputs) (nodes []*G.Node) {
		if names, nodes, wrong = l.graph(b, in, forward, input); wrong != nil {
			b.Of(nil, wrong)
		}
		return nodes
	}, layers.FuncConfig{})
	if err != nil {
		return nil, err
	}
	computed, err := f.Call(ctx, values)
	if err = cmp.Or(wrong, err); err != nil {
		return nil, err
	}
	for i, value := range computed {
		all = append(all, Tensor{names[i], value})
	}
	return all, nil
}

// graph builds the layer's graph on its inputs. It returns the names and nodes of the tensors to write.
func (l *Layer) graph(b *layers.Build, in layers.Inputs, forward forward, input *tensorFile) (
	names []string, nodes G.Nodes, err error) {
	out, attn := forward(b, in)
	if b.Err() != nil {
		return nil, nil, b.Err()
	}
	names, nodes = []string{"output", "weights"}, G.Nodes{out, attn}
	if upstream := in[gradOutput]; upstream != nil {
		if got := upstream.Shape(); !slices.Equal(got, out.Shape()) {
			return nil, nil, input.fail(gradOutput, "shape %v, want %v as the output", got, out.Shape())
		}
		wrt := l.differentiable(b, in)
		grads, err := G.Backpropagate(G.Nodes{out}, G.Nodes{upstream}, wrt)
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

// differentiable returns the inputs that are real numbers, followed by the parameters, in the order in which they were
// made.
func (l *Layer) differentiable(b *layers.Build, in layers.Inputs) (nodes G.Nodes) {
	for _, t := range l.inputs() {
		if n := in[t.name]; n != nil && t.kind == realNumbers {
			nodes = append(nodes, n)
		}
	}
	named := map[string]*G.Node{}
	for _, n := range b.Learnables() {
		named[n.Name()] = n
	}
	for name := range b.Params().Shapes() {
		nodes = append(nodes, named[name])
	}
	return nodes
}

// maxElements is the maximum number of elements of a tensor of the graph: 4 GiB in float32. Scores grow with the square
// of the length, so a small file can require more memory than any machine has.
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
