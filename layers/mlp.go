package layers

import (
	"cmp"

	"attention/graph"
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
)

// Activation is the function between the two products of an MLP.
type Activation string

// The activations.
const (
	GELU        Activation = "gelu"       // torch's gelu
	GELUTanh    Activation = "gelu_tanh"  // its approximation by tanh, as in GPT-2
	ReLU        Activation = "relu"       // max(x, 0), as in Vaswani et al. 2017
	ReLUSquared Activation = "relu2"      // max(x, 0)² (So et al. 2021)
	SiLU        Activation = "silu"       // x·sigmoid(x), also known as swish
	Tanh        Activation = "tanh"       // of an EncoderClassifier only
	SwiGLU      Activation = "swiglu"     // SiLU of one product times another (Shazeer 2020), as in Llama
	GeGLU       Activation = "geglu"      // GELU of one product times another
	GeGLUTanh   Activation = "geglu_tanh" // GELUTanh of one product times another, as in Gemma
)

// gated reports whether an activation is of two products.
func (a Activation) gated() bool { return a == SwiGLU || a == GeGLU || a == GeGLUTanh }

// MLPConfig sizes an MLP.
type MLPConfig struct {
	EmbedDim       int        `json:"embed_dim,omitempty"`       // E, of input and output
	DimFeedforward int        `json:"dim_feedforward,omitempty"` // width in between; 0 means 4·EmbedDim
	Activation     Activation `json:"activation,omitempty"`      // zero means GELU
	Bias           bool       `json:"bias,omitempty"`            // a bias in all products
	Dropout        float64    `json:"dropout,omitempty"`         // of the output, in Train graphs
	HiddenDropout  float64    `json:"hidden_dropout,omitempty"`  // of the activation's result
	Layout         Layout     `json:"layout,omitempty"`          // names, shapes and initial values; zero means Book
	// OutStd is the deviation of the last product's initial weights; 0 means Layout's.
	OutStd float64 `json:"out_std,omitempty"`
}

// validate returns an error that names the first wrong field.
func (c MLPConfig) validate() error {
	err := cmp.Or(config.AtLeast(c, 1, "EmbedDim"), config.AtLeast(c, 0, "DimFeedforward", "OutStd"),
		config.Probability(c, "Dropout", "HiddenDropout"), c.Layout.validate(c),
		config.AtMost(c, maxElements, "EmbedDim")) // before the default of DimFeedforward is computed from it
	if err != nil {
		return err
	}
	r := c.resolved()
	return cmp.Or(tablesFit(c, "EmbedDim", c.EmbedDim, size{"DimFeedforward", r.DimFeedforward}),
		config.OneOf(c, "Activation", r.Activation, GELU, GELUTanh, ReLU, ReLUSquared, SiLU, SwiGLU, GeGLU,
			GeGLUTanh))
}

// resolved returns c with zeros replaced by their defaults.
func (c MLPConfig) resolved() MLPConfig {
	c.DimFeedforward = cmp.Or(c.DimFeedforward, 4*c.EmbedDim)
	c.Activation = cmp.Or(c.Activation, GELU)
	c.Layout = cmp.Or(c.Layout, Book)
	return c
}

// MLP is the feed-forward part of a transformer's block: two products with an
// activation in between.
type MLP struct {
	name, path     string    // in errors, in stages
	config         MLPConfig // resolved
	gate, in, last *Linear   // gate is nil unless the activation is gated
}

// NewMLP makes the parameters of the layout:
//
//	Book   fc.weight (F, E), proj.weight (E, F)
//	Torch  linear1.weight, linear2.weight, as in nn.TransformerEncoderLayer
//	GPT2   c_fc.weight (E, F), c_proj.weight (F, E)
//	Llama  up_proj.weight (F, E), down_proj.weight (E, F)
//
// with F = DimFeedforward, with Bias their .bias, and before them with SwiGLU and GeGLU gate.weight,
// linear_gate.weight, c_gate.weight or gate_proj.weight of the first one's shape.
func NewMLP(s Scope, c MLPConfig) (*MLP, error) { return checked(s, "MLP", c, newMLP) }

func newMLP(s Scope, c MLPConfig) (*MLP, error) {
	c = c.resolved()
	at := c.Layout.names()
	into := LinearConfig{InFeatures: c.EmbedDim, OutFeatures: c.DimFeedforward, Bias: c.Bias, layout: c.Layout}
	outOf := LinearConfig{InFeatures: c.DimFeedforward, OutFeatures: c.EmbedDim, Bias: c.Bias, layout: c.Layout,
		std: c.OutStd}
	m := maker{scope: s}
	l := &MLP{name: s.name("MLP"), path: s.path, config: c}
	if c.Activation.gated() {
		l.gate = part(&m, at.gate, newLinear, into)
	}
	l.in = part(&m, at.in, newLinear, into)
	l.last = part(&m, at.last, newLinear, outOf)
	return done(&m, l)
}

// Forward maps x (…, T, E) to (…, T, E).
func (l *MLP) Forward(b *Build, x *G.Node) (*G.Node, error) {
	f := begin(b, l.name)
	f.where = l.path
	if !f.isSequence("x", x, l.config.EmbedDim, 0) {
		return f.result(nil)
	}
	h := f.stage("up", l.in.text(f, "input"), l.in.apply(f, x)) // (…, T, F), with F = DimFeedforward
	var gate *G.Node
	if l.gate != nil {
		gate = f.stage("gate", l.gate.text(f, "input"), l.gate.apply(f, x)) // (…, T, F)
	}
	h = f.stage("activated", activations[l.config.Activation], l.activate(f, gate, h)) // (…, T, F)
	h = f.dropout(h, l.config.HiddenDropout)                                           // (…, T, F)
	y := f.stage("fed", l.last.text(f, "activated"), l.last.apply(f, h))               // (…, T, E)
	return f.result(f.dropout(y, l.config.Dropout))
}

// activate applies the activation to h, a gated one to gate.
func (l *MLP) activate(f *formula, gate, h *G.Node) *G.Node {
	switch l.config.Activation {
	case SwiGLU:
		return f.Of(graph.SwiGLU(gate, h))
	case GeGLU:
		return f.Of(graph.GeGLU(gate, h))
	case GeGLUTanh:
		return f.Of(graph.GeGLUTanh(gate, h))
	}
	return f.activated(l.config.Activation, h)
}

// activated returns an activation of one product.
func (f *formula) activated(a Activation, h *G.Node) *G.Node {
	switch a {
	case ReLUSquared:
		return f.Of(graph.ReLUSquared(h))
	case ReLU:
		return f.Of(graph.ReLU(h))
	case SiLU:
		return f.Of(graph.SiLU(h))
	case Tanh:
		return f.Of(graph.Tanh(h))
	case GELUTanh:
		return f.Of(graph.GELUTanh(h))
	}
	return f.Of(graph.GELU(h))
}
