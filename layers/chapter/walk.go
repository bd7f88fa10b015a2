package chapter

import (
	"slices"
	"strings"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/oneline"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// walk is a section under construction: a graph, and the steps that show parts of it. Its
// methods are steps for which package graph has no function, in Gorgonia's own ops. As with
// Of, the build keeps the first error for run.
type walk struct {
	*layers.Build
	steps []Step
	nodes G.Nodes // of the steps' values, nil for one that is there already
}

func newWalk(dt tensor.Dtype, seed int64) *walk {
	return &walk{Build: layers.NewBuild(layers.NewParams(dt, seed), layers.Eval)}
}

// show makes a step of the node's value. The line is its name, or "name = formula".
func (w *walk) show(n *G.Node, line, text string) { w.add(line, text, n, nil) }

// shape makes a step of the node's shape.
func (w *walk) shape(n *G.Node, name, text string) {
	if w.Err() == nil {
		w.add(name, text, nil, tensor.New(tensor.WithBacking([]int(n.Shape().Clone()))))
	}
}

// count makes a step of how many elements the nodes have together.
func (w *walk) count(nodes G.Nodes, name, text string) {
	total := 0
	for _, n := range nodes {
		total += n.Shape().TotalSize()
	}
	w.add(name, text, nil, tensor.New(tensor.FromScalar(total)))
}

func (w *walk) add(line, text string, n *G.Node, value *tensor.Dense) {
	name, formula, _ := strings.Cut(line, " = ")
	w.steps = append(w.steps, Step{Name: name, Formula: formula, Text: text, Value: value})
	w.nodes = append(w.nodes, n)
}

// run computes the steps' values.
func (w *walk) run() error {
	if w.Err() != nil {
		return w.Err()
	}
	m, err := machine.New(slices.DeleteFunc(slices.Clone(w.nodes), func(n *G.Node) bool { return n == nil })...)
	if err != nil {
		return err
	}
	err = m.RunAll()
	for i, n := range w.nodes {
		if err == nil && n != nil {
			w.steps[i].Value = copyOf(n.Value())
		}
	}
	return oneline.Join(err, m.Close())
}

// copyOf returns a value as a tensor of its own, whose elements are in order.
func copyOf(v G.Value) *tensor.Dense {
	t, ok := v.(*tensor.Dense)
	switch {
	case !ok:
		return tensor.New(tensor.FromScalar(v.Data()))
	case t.RequiresIterator():
		return t.Materialize().(*tensor.Dense)
	}
	return t.Clone().(*tensor.Dense)
}

// tokens are the chapter's example (T=6, E=3).
func (w *walk) tokens() *G.Node {
	return w.numbers("tokens", []float64{
		0.43, 0.15, 0.89,
		0.55, 0.87, 0.66,
		0.57, 0.85, 0.64,
		0.22, 0.58, 0.33,
		0.77, 0.25, 0.10,
		0.05, 0.80, 0.55,
	}, 6, 3)
}

// numbers makes an input that holds values, in the walk's type.
func (w *walk) numbers(name string, values []float64, shape ...int) *G.Node {
	var backing any = values
	if w.Params().Dtype() == tensor.Float32 {
		narrow := make([]float32, len(values))
		for i, v := range values {
			narrow[i] = float32(v)
		}
		backing = narrow
	}
	return w.input(name, tensor.New(tensor.WithShape(shape...), tensor.WithBacking(backing)))
}

// ones makes an input (T, T) of ones.
func (w *walk) ones(t int) *G.Node { return w.input("ones", tensor.Ones(w.Params().Dtype(), t, t)) }

// input makes an input that holds a value.
func (w *walk) input(name string, value *tensor.Dense) *G.Node {
	n := w.Input(name, value.Shape()...)
	return w.Of(n, G.Let(n, value))
}

// row is x[i], without the axis that it is taken from.
func (w *walk) row(x *G.Node, i int) *G.Node { return w.Of(G.Slice(x, G.S(i))) }

// sum adds up x over some axes, or over all (torch.sum).
func (w *walk) sum(x *G.Node, axes ...int) *G.Node { return w.Of(G.Sum(x, axes...)) }

// reshape is x with its elements in another shape (torch.Tensor.view).
func (w *walk) reshape(x *G.Node, shape ...int) *G.Node { return w.Of(G.Reshape(x, shape)) }

// twice is the batch (2, T, E) of a sequence x (T, E) and itself (torch.stack((x, x))).
func (w *walk) twice(x *G.Node) *G.Node {
	if w.Err() != nil {
		return x
	}
	return w.reshape(w.Of(G.Concat(0, x, x)), 2, x.Shape()[0], x.Shape()[1])
}

// length is √Σx² over all elements of x. It sums a matrix row by row: one float32 that runs
// through the 589,824 elements of GPT-2's matrices ends up wrong by one in 10,000.
func (w *walk) length(x *G.Node) *G.Node {
	squares := w.Of(G.Square(x))
	if x.Dims() == 2 {
		squares = w.sum(squares, 1)
	}
	return w.Of(G.Sqrt(w.sum(squares)))
}

// withoutHeads is weights (1, T, S) of one head without its axis.
func (w *walk) withoutHeads(weights *G.Node) *G.Node { return w.Of(graph.MergeHeads(weights)) }
