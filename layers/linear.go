package layers

import (
	"attention/graph"
	"attention/internal/config"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// LinearConfig sizes a Linear.
type LinearConfig struct {
	In   int  `json:"in_features"`
	Out  int  `json:"out_features"`
	Bias bool `json:"bias,omitempty"`
}

// Validate returns an error that names the first wrong field.
func (c LinearConfig) Validate() error {
	return inLayer("Linear", config.AtLeast(c, 1, "In", "Out"))
}

// Linear is x·weightᵀ + bias (torch.nn.Linear): weight (Out, In), bias (Out), with
// PyTorch's default initialisation.
type Linear struct {
	name         string // in errors
	weight, bias Param
	transposed   bool // weight is (In, Out)
}

// NewLinear makes the parameters weight and, if asked for, bias.
func NewLinear(s Scope, c LinearConfig) (*Linear, error) { return checked(s, c, newLinear) }

func newLinear(s Scope, c LinearConfig) (*Linear, error) {
	return newLinearLike(s, linearLike{c, layouts[Book], 0})
}

// linearLike is a linear map that is named, shaped and drawn as in a layout.
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
	l.weight = m.param("weight", weight, c.weightShape(c.Out, c.In)...)
	l.bias = m.paramIf(c.Bias, "bias", c.biasInit(c.In), c.Out)
	return done(&m, l)
}

// Forward maps x (…, In) to (…, Out).
func (l *Linear) Forward(b *Build, x *G.Node) (*G.Node, error) {
	var f expr.Formula
	y := l.apply(&f, b, x)
	return result(l.name, &f, y)
}

// apply is Forward as a step of a formula.
func (l *Linear) apply(f *expr.Formula, b *Build, x *G.Node) *G.Node {
	return linear(f, x, f.Of(b.node(l.weight)), f.Of(b.optional(l.bias)), l.transposed)
}

// linear is x·weightᵀ + bias, or x·weight + bias if transposed. A nil bias is none.
func linear(f *expr.Formula, x, weight, bias *G.Node, transposed bool) *G.Node {
	if !transposed {
		return f.Of(graph.Linear(x, weight, bias))
	}
	y := f.Of(graph.MatMul(x, weight))
	if bias != nil {
		y = f.Of(graph.Add(y, bias))
	}
	return y
}
