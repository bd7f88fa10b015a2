package layers

import (
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

// Validate returns an error that names the first wrong field.
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
	return notNegative("Norm", number{"Eps", c.Eps})
}

// Norm is a normalisation with a learned gain.
type Norm struct {
	name         string // in errors
	config       NormConfig
	weight, bias Param
}

// NewNorm makes the parameters weight (Width), of ones, and, if asked for, bias
// (Width), of zeros.
func NewNorm(s Scope, c NormConfig) (*Norm, error) { return checked(s, c, newNorm) }

func newNorm(s Scope, c NormConfig) (*Norm, error) {
	if c.Eps == 0 {
		c.Eps = 1e-5
		if c.Kind == NormRMS {
			c.Eps = 1e-6
		}
	}
	m := maker{scope: s}
	return done(&m, &Norm{
		name: s.name("Norm"), config: c,
		weight: m.param("weight", Constant(1), c.Width),
		bias:   m.paramIf(c.Bias, "bias", Constant(0), c.Width),
	})
}

// Forward normalises each row of x (…, T, Width).
func (l *Norm) Forward(b *Build, x *G.Node) (*G.Node, error) {
	if err := checkSequence(l.name, "x", b, x, l.config.Width, 0); err != nil {
		return nil, err
	}
	var f expr.Formula
	weight := f.Of(b.node(l.weight))
	var y *G.Node
	if l.config.Kind == NormRMS {
		y = f.Of(graph.RMSNorm(x, weight, l.config.Eps))
	} else {
		y = f.Of(graph.LayerNorm(x, weight, f.Of(b.optional(l.bias)), l.config.Eps))
	}
	return result(l.name, &f, y)
}
