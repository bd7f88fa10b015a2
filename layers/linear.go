package layers

import (
	"attention/graph"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// LinearConfig sizes a Linear.
type LinearConfig struct {
	In, Out int
	Bias    bool
}

// Validate says what is wrong with the sizes.
func (c LinearConfig) Validate() error {
	return atLeastOne("Linear", size{"In", c.In}, size{"Out", c.Out})
}

// Linear is x·weightᵀ + bias (torch.nn.Linear): weight (Out, In), bias (Out), with
// PyTorch's default initialisation.
type Linear struct {
	name   string // in errors
	weight Param
	bias   *Param
}

// NewLinear makes the parameters weight and, if asked for, bias.
func NewLinear(s Scope, c LinearConfig) (*Linear, error) {
	if err := s.locate(c.Validate()); err != nil {
		return nil, err
	}
	weight, err := s.Param("weight", linearWeight(c.In), c.Out, c.In)
	if err != nil {
		return nil, err
	}
	l := &Linear{name: s.name("Linear"), weight: weight}
	if c.Bias {
		bias, err := s.Param("bias", linearBias(c.In), c.Out)
		if err != nil {
			return nil, err
		}
		l.bias = &bias
	}
	return l, nil
}

// Forward maps x (…, In) to (…, Out).
func (l *Linear) Forward(b *Build, x *G.Node) (*G.Node, error) {
	var f expr.Formula
	weight := f.Of(b.param(l.weight))
	var bias *G.Node
	if l.bias != nil {
		bias = f.Of(b.param(*l.bias))
	}
	y := f.Of(graph.Linear(x, weight, bias))
	return result(l.name, &f, y)
}

type size struct {
	name string
	got  int
}

// atLeastOne is the error that names the first size below one.
func atLeastOne(layer string, sizes ...size) error {
	for _, s := range sizes {
		if s.got < 1 {
			return errorf(layer, "%s: got %d, want at least 1", s.name, s.got)
		}
	}
	return nil
}

// probability is the error that names a probability outside [0, 1).
func probability(layer, name string, p float64) error {
	if p >= 0 && p < 1 {
		return nil
	}
	return errorf(layer, "%s: got %v, want 0 <= p < 1", name, p)
}
