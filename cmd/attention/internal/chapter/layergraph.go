package chapter

import (
	"fmt"

	"attention/cmd/attention/internal/diagram"
	"attention/graph"
	"attention/graph/mask"
	"attention/layers"
	"attention/layers/chapter"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// layerGraph returns the expression graph of a section's layer on its tokens, one op for each step of attention.
func layerGraph(s chapter.Section) (diagram.Diagram, error) {
	c := s.Layer()
	mode := layers.Eval
	if c.Dropout > 0 {
		mode = layers.Train
	}
	b := layers.NewBuild(layers.NewParams(tensor.Float32, s.Seed), mode)
	t := len(s.Words)
	if t == 0 {
		t = 1024
	}
	out, _, err := composed(b, c, b.Input("x", t, max(c.EmbedDim, c.KeyDim)))
	if err != nil {
		return diagram.Diagram{}, err
	}
	return diagram.Of(fmt.Sprintf("%d. The expression graph of %s", s.Number, c.Layer), out, b.Learnables()), nil
}

// composed returns the output of a layer of the chapter on x (T, E), composed of one op for each step, and the layer's
// own output. The two are equal up to rounding.
func composed(b *layers.Build, c chapter.Config, x *G.Node) (out, own *G.Node, err error) {
	layer, err := chapter.New(b.Params().Scope(""), c)
	if err != nil {
		return nil, nil, err
	}
	own = b.Of(layer.Forward(b, x)) // which uses its parameters
	parameters := map[string]*G.Node{}
	for _, n := range b.Learnables() {
		parameters[n.Name()] = n
	}
	a := graph.AttentionConfig{Heads: 1}
	if c.Causal() {
		a.Mask = mask.Causal{}
	}
	attend := func(path string) *G.Node {
		project := func(name string) *G.Node {
			if w, ok := parameters[path+name]; ok {
				return b.Of(graph.MatMul(x, w))
			}
			return b.Of(graph.Linear(x, parameters[path+name+".weight"], nil))
		}
		q, k, v := project("W_query"), project("W_key"), project("W_value")
		a.Dropout = b.Drop(c.Dropout)
		out, _ := b.Of2(graph.Attention(q, k, v, a))
		return out
	}
	switch c.Layer {
	case "additive":
		out = own // has no other form
	case "simple":
		a.Scale = 1
		out, _ = b.Of2(graph.Attention(x, x, x, a))
	case "multi_head_wrapper":
		var heads G.Nodes
		for h := range c.NumHeads {
			heads = append(heads, attend(fmt.Sprintf("heads.%d.", h)))
		}
		out = b.Of(graph.Concat(heads...))
	case "multi_head":
		a.Heads = c.NumHeads
		out = b.Of(graph.Linear(attend(""), parameters["out_proj.weight"], parameters["out_proj.bias"]))
	default:
		out = attend("")
	}
	return out, own, b.Err()
}
