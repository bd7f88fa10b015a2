package chapter

import (
	"fmt"

	"attention/cmd/attention/internal/diagram"
	"attention/layers"
	"attention/layers/chapter"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// layerGraph returns the expression graph of a section's layer on its tokens, one op for each step of attention.
func layerGraph(s chapter.Section) (diagram.Diagram, error) {
	b, out, err := steps(s)
	if err != nil {
		return diagram.Diagram{}, err
	}
	title := fmt.Sprintf("%d. The expression graph of %s", s.Number, s.Layer().Layer)
	return diagram.Of(title, out, b.Learnables()), nil
}

// steps builds a section's layer of one op for each step, and returns its output.
func steps(s chapter.Section) (b *layers.Build, out *G.Node, err error) {
	c := s.Layer()
	mode := layers.Eval
	if c.Dropout > 0 {
		mode = layers.Train
	}
	b = layers.NewBuild(layers.NewParams(tensor.Float32, s.Seed), mode)
	t := len(s.Words)
	if t == 0 {
		t = 1024
	}
	b.Compose("*")
	layer, err := chapter.New(b.Params().Scope(""), c)
	if err != nil {
		return nil, nil, err
	}
	out = b.Of(layer.Forward(b, b.Input("x", t, max(c.EmbedDim, c.KeyDim))))
	return b, out, b.Err()
}
