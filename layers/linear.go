package layers

import (
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
)

// LinearConfig sizes a Linear.
type LinearConfig struct {
	In   int  `json:"in_features"`
	Out  int  `json:"out_features"`
	Bias bool `json:"bias,omitempty"`
}

func (c LinearConfig) validate() error { return config.AtLeast(c, 1, "In", "Out") }

// Linear is x·weightᵀ + bias (torch.nn.Linear): weight (Out, In), bias (Out), with
// PyTorch's default initialisation.
type Linear struct {
	name         string // in errors
	weight, bias Param
	transposed   bool // weight is (In, Out)
}

// NewLinear makes the parameters weight and, if asked for, bias.
func NewLinear(s Scope, c LinearConfig) (*Linear, error) {
	return checked(s, "Linear", c, newLinear)
}

func newLinear(s Scope, c LinearConfig) (*Linear, error) {
	return newLinearLike(s, linearLike{c, layouts[Book], 0})
}

// linearLike is a linear map that is shaped and drawn as in a layout.
type linearLike struct {
	LinearConfig
	layout
	std float64 // standard deviation of the initial weight; 0 means as the layout draws it
}

func newLinearLike(s Scope, c linearLike) (*Linear, error) {
	weight := c.weightInit(c.In)
	if c.std > 0 {
		weight = Normal(0, c.std)
	}
	m := maker{scope: s}
	l := &Linear{name: s.name("Linear"), transposed: c.transposed}
	l.weight = m.weight("weight", weight, c.layout, c.Out, c.In)
	l.bias = m.paramIf(c.Bias, "bias", c.biasInit(c.In), c.Out)
	return done(&m, l)
}

// Forward maps x (…, In) to (…, Out).
func (l *Linear) Forward(b *Build, x *G.Node) (*G.Node, error) {
	f := begin(b, l.name)
	return f.result(l.apply(f, x))
}

// apply is Forward as a step of a formula.
func (l *Linear) apply(f *formula, x *G.Node) *G.Node {
	return f.linear(x, l.weight, l.bias, l.transposed)
}
