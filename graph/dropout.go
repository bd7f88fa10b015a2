package graph

import (
	"fmt"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// DropoutConfig sets how Dropout draws. The zero value drops nothing.
type DropoutConfig struct {
	P    float64 // probability of dropping an element, in [0, 1)
	Key  *G.Node // int64 scalar input; a new value is a new mask
	Site int     // distinguishes the dropouts that share a key
}

// Validate returns an error unless 0 ≤ P < 1.
func (c DropoutConfig) Validate() error {
	if c.P >= 0 && c.P < 1 {
		return nil
	}
	return fmt.Errorf("graph: Dropout: p: got %v, want 0 <= p < 1", c.P)
}

// Dropout returns x after inverted dropout (torch.nn.Dropout in training): each element is dropped with probability P,
// kept ones are multiplied by 1/(1−P). The choice of dropped elements is a pure function of (key, site, index): no
// state, no clock. With P = 0 it returns x itself. A dropped element is multiplied by 0, as in torch: NaN and ∞ become
// NaN, in x and in the gradient.
func Dropout(x *G.Node, c DropoutConfig) (*G.Node, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.P == 0 {
		return x, nil
	}
	return applyTyped(dropout[float32]{P: c.P, Site: c.Site}, dropout[float64]{P: c.P, Site: c.Site}, x, c.Key)
}

// dropout multiplies by a random mask. It is an op because no other op draws random numbers.
type dropout[F kernel.Float] struct {
	P    float64
	Site int
}

func (dropout[F]) spec() spec {
	return spec{name: "Dropout", args: []arg{{name: "x"}, {name: "key", integer: true}}, inPlace: first}
}

func (dropout[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	if in[1].TotalSize() != 1 {
		return nil, &ShapeError{"Dropout", "key", in[1], "()"}
	}
	return in[0].Clone(), nil
}

func (o dropout[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.Dropout(dense.Floats[F](out), dense.Floats[F](in[0]), o.P, dense.Ints(in[1])[0], o.Site)
	return nil
}

// y = x⊙mask/(1−p): dx = dy⊙mask/(1−p), which is the same op with the same mask.
func (o dropout[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	return only(apply(o, dy, in[1]))
}
