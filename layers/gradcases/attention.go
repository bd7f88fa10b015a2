package gradcases

import (
	"math/rand/v2"

	"attention/graph/gradcases"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// attentions returns two cases of each row of Attentions: fused and observed.
func attentions() (cases []Case) {
	for _, a := range Attentions() {
		forward := func(l *layers.Attention, b *layers.Build, in G.Nodes) (*G.Node, error) {
			return l.Attend(b, a.input(in))
		}
		fused := Case{Layer: "Attention", About: a.About, Reason: a.Reason, Mode: layers.Train, Inputs: a.inputs(),
			New: made(layers.NewAttention, a.Config, forward)}
		cases = append(cases, fused, fused.observed())
	}
	return cases
}

// OfX reports whether the row's input is one sequence alone.
func (a Attention) OfX() bool { return a.key == nil && a.more == nil }

// Call adds the row's inputs to a build, with values drawn from r. It returns the layer's input and the nodes to
// differentiate by.
func (a Attention) Call(b *layers.Build, r *rand.Rand) (in layers.AttentionInput, wrt G.Nodes, err error) {
	nodes, wrt, err := gradcases.Nodes(b.Graph(), b.Params().Dtype(), r, a.inputs())
	if err != nil {
		return in, nil, err
	}
	return a.input(nodes), wrt, nil
}

// inputs returns the row's inputs.
func (a Attention) inputs() []gradcases.Input {
	inputs := []gradcases.Input{gradcases.Float("query", a.query...)}
	if a.key != nil {
		inputs = append(inputs, gradcases.Float("key", a.key...))
	}
	if a.value != nil {
		inputs = append(inputs, gradcases.Float("value", a.value...))
	}
	return append(inputs, a.more...)
}

// input returns the layer's input of the nodes of inputs.
func (a Attention) input(nodes G.Nodes) layers.AttentionInput {
	in := layers.AttentionInput{Query: nodes[0]}
	nodes = nodes[1:]
	if a.key != nil {
		in.Key, nodes = nodes[0], nodes[1:]
	}
	if a.value != nil {
		in.Value, nodes = nodes[0], nodes[1:]
	}
	if a.set != nil {
		a.set(&in, nodes)
	}
	return in
}

func ids(name string, ids []int, shape ...int) []gradcases.Input {
	return []gradcases.Input{gradcases.IDs(name, ids, shape...)}
}
