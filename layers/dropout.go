package layers

import (
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
)

// Dropout drops elements (torch.nn.Dropout), in Train graphs: each with probability P, the
// others are multiplied by 1/(1−P). In an Eval graph it does nothing. It has no parameters,
// so that its value is the layer.
type Dropout struct {
	P float64 `json:"p"` // probability of dropping an element, in [0, 1); torch's default is 0.5, here it is 0
}

func (l Dropout) validate() error { return config.Probability(l, "P") }

// Forward maps x of any shape to x with elements dropped, drawn from b.DropoutKey. Each
// call drops others.
func (l Dropout) Forward(b *Build, x *G.Node) (*G.Node, error) {
	if err := b.Err(); err != nil {
		return nil, err
	}
	f := b.formula("Dropout")
	if err := l.validate(); err != nil {
		return nil, inLayer(f.name, err)
	}
	if err := f.checkNode("x", x); err != nil {
		return nil, err
	}
	return f.result(f.dropout(x, l.P))
}
