package chapter

import (
	"fmt"
	"math"

	"attention/graph"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// Sizes of the experiment with √D.
const (
	experimentQueries = 64
	experimentKeys    = 8
)

// experimentWidths are the widths D of queries and keys.
var experimentWidths = []int{2, 8, 32, 128, 512}

var scaleExperiment = Section{
	Title: "An experiment: why scores are divided by √D",
	Text:  "The softmax of random queries and keys of width D, with and without the division, as D grows.",
	Why: "The dot product of two vectors of D random numbers is about √D large. Without the division, the softmax of " +
		"wide vectors gives nearly everything to one key by chance. Its entropy falls toward 0, and with it the gradient " +
		"that could correct it, so nothing is learnt. Scores divided by √D have about the same size at any width: the " +
		"weights stay spread, and the gradient does not vanish. The entropy is in nats, with the natural logarithm: ln 8 " +
		"for eight equal weights, 0 for one weight of 1.",
	Seed:  chapterSeed,
	large: true,
	build: func(w *walk) {
		widths := make([]string, len(experimentWidths))
		var plain, scaled softmaxes
		for i, d := range experimentWidths {
			widths[i] = fmt.Sprintf("D = %d", d)
			q := w.input(fmt.Sprint("q", d), w.Params().Draw(layers.Normal(0, 1), experimentQueries, d))
			k := w.input(fmt.Sprint("k", d), w.Params().Draw(layers.Normal(0, 1), experimentKeys, d))
			g := w.input(fmt.Sprint("g", d), w.Params().Draw(layers.Normal(0, 1), experimentQueries, experimentKeys))
			scores := w.Of(graph.Scores(q, k))
			plain.add(w, scores, g)
			scaled.add(w, w.Of(graph.Scale(scores, 1/math.Sqrt(float64(d)))), g)
		}
		show := func(line, text string, of func(softmaxes) G.Nodes) {
			both := w.stack(G.Nodes{w.stack(of(plain)), w.stack(of(scaled))})
			w.show(both, line, text, []string{"q·kᵀ", "q·kᵀ / √D"}, widths)
		}
		show("entropy = −Σ weights·log weights",
			"Entropy for D = 2, 8, 32, 128, 512: first without the division, then with.",
			func(s softmaxes) G.Nodes { return s.entropy })
		show("largest = max weights", "The largest of a query's eight weights, on average over 64 queries.",
			func(s softmaxes) G.Nodes { return s.largest })
		show("gradient = |∂(g·weights) / ∂scores|",
			"The length of a random gradient g after its way back through the softmax.",
			func(s softmaxes) G.Nodes { return s.gradient })
	},
}

// softmaxes holds measures of softmaxes, each a mean over the queries, for growing widths D.
type softmaxes struct{ entropy, largest, gradient G.Nodes }

// add measures the softmax of scores (T, S). g is the gradient of its weights.
func (s *softmaxes) add(w *walk, scores, g *G.Node) {
	row := graph.ReduceConfig{Dim: []int{1}}
	mean := func(x *G.Node) *G.Node { return w.Of(graph.Mean(x, graph.ReduceConfig{})) }
	weights := w.Of(graph.Softmax(scores))
	terms := w.Of(graph.Mul(weights, w.Of(graph.LogSoftmax(scores))))
	s.entropy = append(s.entropy, mean(w.Of(graph.Scale(w.Of(graph.Sum(terms, row)), -1))))
	s.largest = append(s.largest, mean(w.Of(graph.Max(weights, row))))
	if w.Err() != nil {
		return
	}
	back, err := G.Backpropagate(G.Nodes{weights}, G.Nodes{g}, G.Nodes{scores})
	if w.Of(scores, err); w.Err() == nil {
		s.gradient = append(s.gradient, mean(w.Of(G.Sqrt(w.Of(graph.Sum(w.Of(G.Square(back[0])), row))))))
	}
}

// stack returns nodes of one shape as the rows of one node, or scalars as a vector.
func (w *walk) stack(nodes G.Nodes) *G.Node {
	if w.Err() != nil {
		return nil
	}
	shape := nodes[0].Shape()
	rows := make(G.Nodes, len(nodes))
	for i, n := range nodes {
		rows[i] = w.reshape(n, append([]int{1}, shape...)...)
	}
	return w.Of(G.Concat(0, rows...))
}
