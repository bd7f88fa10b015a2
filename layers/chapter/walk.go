package chapter

import (
	"fmt"
	"slices"
	"strings"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/dense"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// walk is a section under construction: a graph, and the steps that show parts of it. Some of its methods are
// operations that package graph does not have, in Gorgonia's own ops. As with Of, the build keeps the first error,
// which run returns.
type walk struct {
	*layers.Build
	section Section
	steps   []Step
	nodes   G.Nodes // of the steps' values; nil for a step that has its value

	values map[string][]float64 // replacements for values of inputs and parameters, by name
	used   map[string]bool      // the names in values that the section has
}

func newWalk(dt tensor.Dtype, s Section, values map[string][]float64) *walk {
	mode := layers.Eval
	if s.drops && s.Dropout > 0 {
		mode = layers.Train
	}
	build := layers.NewBuild(layers.NewParams(dt, s.Seed), mode)
	return &walk{Build: build, section: s, values: values, used: map[string]bool{}}
}

// show adds a step with the node's value. line is its name, or "name = formula". names are for the indices of its last
// axis, its last two, or all three.
func (w *walk) show(n *G.Node, line, text string, names ...[]string) *Step {
	s := w.add(line, text, n, nil)
	axes := []*[]string{&s.Blocks, &s.Rows, &s.Columns}
	for i, of := range names {
		*axes[len(axes)-len(names)+i] = of
	}
	s.Learnt = slices.Contains(w.Learnables(), n)
	return s
}

// words returns the names of the section's tokens.
func (w *walk) words() []string { return w.section.Words }

// shape adds a step with the node's shape.
func (w *walk) shape(n *G.Node, name, text string) {
	if w.Err() == nil {
		w.add(name, text, nil, tensor.New(tensor.WithBacking([]int(n.Shape().Clone()))))
	}
}

// count adds a step with the number of elements of the nodes.
func (w *walk) count(nodes G.Nodes, name, text string) {
	total := 0
	for _, n := range nodes {
		total += n.Shape().TotalSize()
	}
	w.number(total, name, text)
}

// number adds a step with a number.
func (w *walk) number(n int, name, text string) {
	w.add(name, text, nil, tensor.New(tensor.FromScalar(n)))
}

func (w *walk) add(line, text string, n *G.Node, value *tensor.Dense) *Step {
	name, formula, _ := strings.Cut(line, " = ")
	w.removePart(name)
	w.steps = append(w.steps, Step{Name: name, Formula: formula, Text: text, Value: value})
	w.nodes = append(w.nodes, n)
	return &w.steps[len(w.steps)-1]
}

// removeParts removes the parts, so that nothing is computed for them.
func (w *walk) removeParts() {
	isPart := func(i int) bool { return w.steps[i].Part }
	i := -1
	w.nodes = slices.DeleteFunc(w.nodes, func(*G.Node) bool { i++; return isPart(i) })
	w.steps = slices.DeleteFunc(w.steps, func(s Step) bool { return s.Part })
}

// run computes the steps' values.
func (w *walk) run() error {
	w.replace()
	if w.Err() != nil {
		return w.Err()
	}
	if err := w.checkUsed(); err != nil {
		return err
	}
	if key := w.DropoutKey(); key != nil {
		if err := G.Let(key, w.section.Seed); err != nil {
			return err
		}
	}
	m, err := machine.New(slices.DeleteFunc(slices.Clone(w.nodes), func(n *G.Node) bool { return n == nil })...)
	if err != nil {
		return err
	}
	defer m.Close()
	if err := m.RunAll(); err != nil {
		return err
	}
	for i, n := range w.nodes {
		if n == nil {
			continue
		}
		if w.steps[i].Value, err = dense.Copy(n.Value()); err != nil {
			return err
		}
	}
	return nil
}

// tokens returns the vectors (T, E=3) of the section's words.
func (w *walk) tokens() *G.Node {
	var all []float64
	for _, word := range w.words() {
		all = append(all, vector(word, w.seed())...)
	}
	return w.numbers("x", all, len(w.words()), 3)
}

// seed returns the seed of all random numbers except the weights: the chapter's seed, unless the section's seed was
// changed.
func (w *walk) seed() int64 {
	if w.section.Seed == w.section.own.Seed {
		return chapterSeed
	}
	return w.section.Seed
}

// numbers makes an input that holds values, in the walk's type.
func (w *walk) numbers(name string, values []float64, shape ...int) *G.Node {
	return w.input(name, dense.Of(w.Params().Dtype(), values, shape...))
}

// ones makes an input (T, T) of ones, for the section's words.
func (w *walk) ones() *G.Node {
	t := len(w.words())
	return w.input("ones", tensor.Ones(w.Params().Dtype(), t, t))
}

// input makes an input that holds a value.
func (w *walk) input(name string, value *tensor.Dense) *G.Node {
	if numbers, ok := w.values[name]; ok {
		w.used[name] = true
		w.fill(name, value, numbers)
	}
	n := w.Input(name, value.Shape()...)
	return w.Of(n, G.Let(n, value))
}

// row returns x[i], without its first axis.
func (w *walk) row(x *G.Node, i int) *G.Node { return w.Of(G.Slice(x, G.S(i))) }

// sum adds up x over some axes, or over all axes (torch.sum).
func (w *walk) sum(x *G.Node, axes ...int) *G.Node { return w.Of(G.Sum(x, axes...)) }

// reshape returns x in another shape (torch.Tensor.view).
func (w *walk) reshape(x *G.Node, shape ...int) *G.Node { return w.Of(G.Reshape(x, shape)) }

// sequences are the names of the two sequences of a batch.
var sequences = []string{"sequence 0", "sequence 1"}

// twice returns the batch (2, T, E) of a sequence x (T, E), twice (torch.stack((x, x))).
func (w *walk) twice(x *G.Node) *G.Node {
	if w.Err() != nil {
		return x
	}
	return w.reshape(w.Of(G.Concat(0, x, x)), 2, x.Shape()[0], x.Shape()[1])
}

// length returns √Σx² over all elements of x. It sums a matrix row by row: a single float32 sum
// of the 589,824 elements of GPT-2's matrices is wrong by one in 10,000.
func (w *walk) length(x *G.Node) *G.Node {
	squares := w.Of(G.Square(x))
	if x.Dims() == 2 {
		squares = w.sum(squares, 1)
	}
	return w.Of(G.Sqrt(w.sum(squares)))
}

// withoutHeads returns the weights (1, T, S) of one head as (T, S).
func (w *walk) withoutHeads(weights *G.Node) *G.Node { return w.Of(graph.MergeHeads(weights)) }

// parameter returns a parameter that a layer has used, by its name.
func (w *walk) parameter(name string) *G.Node {
	for _, n := range w.Learnables() {
		if n.Name() == name {
			return n
		}
	}
	return w.Of(nil, fmt.Errorf("parameter %q: no layer has used it", name))
}

// projected returns x times the named weight of a projection that a layer has used: a bare matrix, as in the chapter's
// first layer, or a linear layer's weight.
func (w *walk) projected(x *G.Node, name string) *G.Node {
	if slices.ContainsFunc(w.Learnables(), func(n *G.Node) bool { return n.Name() == name }) {
		return w.Of(graph.MatMul(x, w.parameter(name)))
	}
	return w.Of(graph.Linear(x, w.parameter(name+".weight"), nil))
}

// queryKeyScores returns q·kᵀ (…, T, T) of a layer's projections, whose names begin with path.
func (w *walk) queryKeyScores(x *G.Node, path string) *G.Node {
	return w.Of(graph.Scores(w.projected(x, path+"W_query"), w.projected(x, path+"W_key")))
}
