package chapter

import (
	"fmt"
	"slices"
	"strings"

	"attention/internal/config"
	"attention/internal/dense"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// part adds a step that is not printed but that formulas name: inputs, weights, queries. It does nothing if there is
// already a step with that name.
func (w *walk) part(n *G.Node, line, text string, names ...[]string) {
	name, _, _ := strings.Cut(line, " = ")
	if !slices.ContainsFunc(w.steps, func(s Step) bool { return s.Name == name }) {
		w.show(n, line, text, names...).Part = true
	}
}

// removePart removes the part with a name, which a printed step replaces.
func (w *walk) removePart(name string) {
	at := slices.IndexFunc(w.steps, func(s Step) bool { return s.Part && s.Name == name })
	if at >= 0 {
		w.steps, w.nodes = slices.Delete(w.steps, at, at+1), slices.Delete(w.nodes, at, at+1)
	}
}

// given is the exact formula of a step that cannot be computed from other steps, though a formula is printed.
const given = "given"

// exactly sets the formula by which a step is computed from other steps, where the printed
// formula is missing or only meant for readers.
func (s *Step) exactly(formula string) { s.exact = formula }

// roles are the roles of a token, with the names of their weights and results.
var roles = []struct{ weight, result, word, text string }{
	{"W_query", "q", "queries", "The queries: what each token asks for."},
	{"W_key", "k", "keys", "The keys: what each token is found by."},
	{"W_value", "v", "values", "The values: what each token hands over."},
}

// inputs makes a part of the section's tokens.
func (w *walk) inputs(x *G.Node) { w.part(x, "x", "The tokens, three numbers each.", w.words(), nil) }

// weightOf returns the name of a projection's weight, and its formula as a factor of tokens.
func (w *walk) weightOf(name string) (weight, factor string) {
	if slices.ContainsFunc(w.Learnables(), func(n *G.Node) bool { return n.Name() == name }) {
		return name, name
	}
	return name + ".weight", name + ".weightᵀ"
}

// projections adds parts for a layer's weights, whose names begin with path, and for the queries, keys and values of
// tokens x, whose names begin with prefix.
func (w *walk) projections(x *G.Node, path, prefix string) {
	w.inputs(x)
	for _, r := range roles {
		weight, factor := w.weightOf(path + r.weight)
		w.part(w.parameter(weight), weight, "The weights of the "+r.word+".")
		w.part(w.projected(x, path+r.weight), prefix+r.result+" = x·"+factor, r.text, w.words(), nil)
	}
}

// movedWeights adds parts for the weights of the layer at path, which are the transposed weights of the layer at from.
func (w *walk) movedWeights(path, from string) {
	for _, r := range roles {
		weight, _ := w.weightOf(path + r.weight)
		other, _ := w.weightOf(from + r.weight)
		w.part(w.parameter(weight), weight+" = "+other+"ᵀ",
			"The weights of the "+r.word+", those of the other layer transposed.")
	}
}

// whole adds parts for all steps of a layer of one head on x, and returns the formula of its context vectors.
func (w *walk) whole(l attention, x *G.Node, path string) (formula string) {
	w.projections(x, path, path)
	w.part(w.withoutHeads(l.weights(x)), fmt.Sprintf("%sweights = softmax(%sq·%sᵀ / √2)", path, path, path+"k"),
		"The weights of the layer.",
		w.words(), w.words())
	return path + "weights·" + path + "v"
}

// replace sets parameters to the values passed to Trace.
func (w *walk) replace() {
	for name, value := range w.Params().All() {
		if numbers, ok := w.values[name]; ok {
			w.used[name] = true
			w.fill(name, value, numbers)
		}
	}
}

// fill copies numbers to a value.
func (w *walk) fill(name string, value *tensor.Dense, numbers []float64) {
	if len(numbers) != value.Shape().TotalSize() {
		w.Of(nil, fmt.Errorf("%s: got %d numbers, want %d", name, len(numbers), value.Shape().TotalSize()))
		return
	}
	dense.SetFloats(value, numbers)
}

// checkUsed returns an error for values whose names belong to no input and no parameter of the section.
func (w *walk) checkUsed() error {
	for name := range w.values {
		if !w.used[name] {
			return config.Errorf(w.section, "values", "got numbers for %.80q, want the name of an input or of weights",
				name)
		}
	}
	return nil
}

// finish parses the exact formulas.
func (w *walk) finish() error {
	var names []string
	for _, s := range w.steps {
		names = append(names, s.Name)
	}
	for i := range w.steps {
		s := &w.steps[i]
		if s.exact == "" {
			s.exact = s.Formula
		}
		if s.exact == "" || s.exact == given || w.section.large {
			continue
		}
		f, err := ParseFormula(s.exact, names)
		if err != nil {
			return fmt.Errorf("step %s: %w", s.Name, err)
		}
		s.Exact = &f
	}
	return nil
}
