package layers

import (
	"math"

	"attention/graph"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// NormKind is how a Norm normalises.
type NormKind string

// The kinds of Norm.
const (
	NormLayer NormKind = "layer" // (x − mean)/√(variance + eps)⊙weight + bias (Ba et al. 2016; torch.nn.LayerNorm)
	NormRMS   NormKind = "rms"   // x/√(mean x² + eps)⊙weight (Zhang and Sennrich 2019)
)

// NormConfig sizes a Norm.
type NormConfig struct {
	Width int      // E
	Kind  NormKind // zero means NormLayer
	Bias  bool     // of NormLayer; NormRMS has none
	Eps   float64  // 0 means 1e-5 for NormLayer, 1e-6 for NormRMS
}

// Validate says what is wrong with the config.
func (c NormConfig) Validate() error {
	if err := atLeastOne("Norm", size{"Width", c.Width}); err != nil {
		return err
	}
	if c.Width > maxElements {
		return errorf("Norm", "Width: got %d, want at most %d", c.Width, maxElements)
	}
	switch {
	case c.Kind != "" && c.Kind != NormLayer && c.Kind != NormRMS:
		return errorf("Norm", "Kind: got %q, want %q or %q", c.Kind, NormLayer, NormRMS)
	case c.Kind == NormRMS && c.Bias:
		return errorf("Norm", "Bias: got one with %q, want none", NormRMS)
	}
	return notNegative("Norm", "Eps", c.Eps)
}

// notNegative is the error that names a setting below 0 or not finite.
func notNegative(layer, name string, x float64) error {
	if x >= 0 && !math.IsInf(x, 1) {
		return nil
	}
	return errorf(layer, "%s: got %v, want a finite number of at least 0", name, x)
}

// Count is the number of elements in all parameters.
func (c NormConfig) Count() int {
	if c.Bias {
		return 2 * c.Width
	}
	return c.Width
}

// Norm is a normalisation with a learned gain.
type Norm struct {
	name   string // in errors
	config NormConfig
	weight Param
	bias   *Param
}

// NewNorm makes the parameters weight (Width), of ones, and, if asked for, bias
// (Width), of zeros.
func NewNorm(s Scope, c NormConfig) (*Norm, error) {
	if err := s.locate(c.Validate()); err != nil {
		return nil, err
	}
	if c.Eps == 0 {
		c.Eps = 1e-5
		if c.Kind == NormRMS {
			c.Eps = 1e-6
		}
	}
	weight, err := s.Param("weight", Constant(1), c.Width)
	if err != nil {
		return nil, err
	}
	l := &Norm{name: s.name("Norm"), config: c, weight: weight}
	if c.Bias {
		bias, err := s.Param("bias", Constant(0), c.Width)
		if err != nil {
			return nil, err
		}
		l.bias = &bias
	}
	return l, nil
}

// Forward normalises each row of x (…, T, Width).
func (l *Norm) Forward(b *Build, x *G.Node) (*G.Node, error) {
	if err := checkSequence(l.name, "x", b, x, l.config.Width, 0); err != nil {
		return nil, err
	}
	var f expr.Formula
	weight, bias := f.Of(b.param(l.weight)), optionalParam(&f, b, l.bias)
	var y *G.Node
	if l.config.Kind == NormRMS {
		y = f.Of(graph.RMSNorm(x, weight, l.config.Eps))
	} else {
		y = f.Of(graph.LayerNorm(x, weight, bias, l.config.Eps))
	}
	return result(l.name, &f, y)
}

// optionalParam is the node of a parameter that may be nil.
func optionalParam(f *expr.Formula, b *Build, p *Param) *G.Node {
	if p == nil {
		return nil
	}
	return f.Of(b.param(*p))
}
