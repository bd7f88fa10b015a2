package gradcases

import (
	"math/rand/v2"

	"attention/graph/gradcases"
	"attention/graph/mask"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// attentions returns two cases of each row of Attentions: fused and observed.
func attentions() (cases []Case) {
	for _, a := range Attentions() {
		forward := func(l *layers.Attention, b *layers.Build, in G.Nodes) (*G.Node, error) {
			return l.Attend(b, a.input(in))
		}
		fused := Case{Layer: "Attention", About: a.About, Mode: layers.Train, Inputs: a.inputs,
			New: made(layers.NewAttention, a.Config, forward)}
		cases = append(cases, fused, fused.observed())
	}
	return cases
}

// OfX reports whether the row's input is one sequence alone.
func (a Attention) OfX() bool { return len(a.inputs) == 1 }

// Call adds the row's inputs to a build, with values drawn from r. It returns the layer's input and the nodes to
// differentiate by.
func (a Attention) Call(b *layers.Build, r *rand.Rand) (in layers.AttentionInput, wrt G.Nodes, err error) {
	nodes, wrt, err := gradcases.Nodes(b.Graph(), b.Params().Dtype(), r, a.inputs)
	if err != nil {
		return in, nil, err
	}
	return a.input(nodes), wrt, nil
}

// input returns the layer's input of the nodes of inputs.
func (a Attention) input(nodes G.Nodes) (in layers.AttentionInput) {
	for i, n := range nodes {
		switch a.inputs[i].Name {
		case "query":
			in.Query = n
		case "key":
			in.Key = n
		case "value":
			in.Value = n
		case "bias":
			in.Bias = n
		case "positions":
			in.Positions = n
		case "key_positions":
			in.KeyPositions = n
		case "lengths":
			in.Mask = mask.KeyLengths{Lengths: n}
		case "segments":
			in.Mask = mask.Segments{Query: n}
		}
	}
	return in
}
