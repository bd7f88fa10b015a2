package layers

import (
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
)

// Dropout drops elements in Train graphs (torch.nn.Dropout): each with probability P; the remaining ones are multiplied
// by 1/(1−P). In an Eval graph it does nothing. It has no parameters and no constructor.
type Dropout struct {
	P float64 `json:"p"` // probability of dropping an element, in [0, 1); torch's default is 0.5, here it is 0
}

// Forward returns x of any shape after dropping elements at random, by b.DropoutKey. Each call drops other elements.
func (l Dropout) Forward(b *Build, x *G.Node) (*G.Node, error) {
	f := begin(b, "Dropout")
	if err := config.Probability(l, "P"); err != nil {
		f.fail(err)
	}
	if !f.isNode("x", x) {
		return f.result(nil)
	}
	return f.result(f.dropout(x, l.P))
}
