package layers

import (
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
)

// LinearConfig sizes a Linear.
type LinearConfig struct {
	InFeatures  int  `json:"in_features"`
	OutFeatures int  `json:"out_features"`
	Bias        bool `json:"bias,omitempty"`

	layout Layout  // the weight's axes and initial values; empty means Book
	zero   bool    // the bias is drawn, so that later draws are PyTorch's, and begins with 0
	std    float64 // standard deviation of the initial weight; 0 means the layout's initial values
}

func (c LinearConfig) validate() error { return config.AtLeast(c, 1, "InFeatures", "OutFeatures") }

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
	at := c.layout.names()
	weight := at.weightInit(c.InFeatures)
	if c.std > 0 {
		weight = Normal(0, c.std)
	}
	bias := at.biasInit(c.InFeatures)
	if c.zero {
		bias = drawnThenZero(bias)
	}
	m := maker{scope: s}
	l := &Linear{name: s.name("Linear"), transposed: at.transposed}
	l.weight = m.weight("weight", weight, at, c.OutFeatures, c.InFeatures)
	l.bias = m.paramIf(c.Bias, "bias", bias, c.OutFeatures)
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
