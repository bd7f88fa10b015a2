package layers

import (
	"slices"

	"attention/graph"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// Activation is what stands between the two products of an MLP.
type Activation string

// The activations.
const (
	GELU     Activation = "gelu"      // torch's gelu
	GELUTanh Activation = "gelu_tanh" // its approximation by tanh, as in GPT-2
	ReLU     Activation = "relu"      // max(x, 0), as in Vaswani et al. 2017
	SiLU     Activation = "silu"      // x·sigmoid(x), also known as swish
	SwiGLU   Activation = "swiglu"    // SiLU of one product times another (Shazeer 2020), as in Llama
)

// Activations are all activations.
func Activations() []Activation { return []Activation{GELU, GELUTanh, ReLU, SiLU, SwiGLU} }

// MLPConfig sizes an MLP.
type MLPConfig struct {
	Width         int        // E, of input and output
	Hidden        int        // width in between; 0 means 4·Width
	Activation    Activation // zero means GELU
	Bias          bool       // a bias in all products
	Dropout       float64    // of the output, in Train graphs; 0 means none
	HiddenDropout float64    // of what the activation gives; 0 means none
	Layout        Layout     // names, shapes and initial values of the parameters; zero means Book
	OutStd        float64    // standard deviation of the last product's initial weights; 0 means as Layout draws them
}

// mlpLayout is how the products of an MLP are named.
type mlpLayout struct{ gate, in, out string }

var mlpLayouts = map[Layout]mlpLayout{
	Book:  {gate: "gate", in: "fc", out: "proj"},
	Torch: {gate: "linear_gate", in: "linear1", out: "linear2"},
	GPT2:  {gate: "c_gate", in: "c_fc", out: "c_proj"},
	Llama: {gate: "gate_proj", in: "up_proj", out: "down_proj"},
}

// Validate says what is wrong with the config.
func (c MLPConfig) Validate() error {
	const layer = "MLP"
	if err := atLeastOne(layer, size{"Width", c.Width}); err != nil {
		return err
	}
	if c.Hidden < 0 {
		return errorf(layer, "Hidden: got %d, want at least 0", c.Hidden)
	}
	if c.Width > maxElements || c.resolved().Hidden > maxElements/c.Width {
		return errorf(layer, "Hidden: got %d for Width=%d, want at most %d elements in a weight", c.Hidden, c.Width, maxElements)
	}
	if a := c.Activation; a != "" && !slices.Contains(Activations(), a) {
		return errorf(layer, "Activation: got %q, want one of %v", a, Activations())
	}
	if _, ok := mlpLayouts[c.resolved().Layout]; !ok {
		return errorf(layer, "Layout: got %q, want one of %v", c.Layout, layoutsIn(mlpLayouts))
	}
	if err := probability(layer, "Dropout", c.Dropout); err != nil {
		return err
	}
	if err := probability(layer, "HiddenDropout", c.HiddenDropout); err != nil {
		return err
	}
	return notNegative(layer, "OutStd", c.OutStd)
}

// resolved is c with the zeros replaced by what they stand for.
func (c MLPConfig) resolved() MLPConfig {
	if c.Hidden == 0 {
		c.Hidden = 4 * c.Width
	}
	if c.Activation == "" {
		c.Activation = GELU
	}
	if c.Layout == "" {
		c.Layout = Book
	}
	return c
}

// Count is the number of elements in all parameters.
func (c MLPConfig) Count() int {
	n := 0
	for _, p := range c.products() {
		n += p.in * p.out
		if c.Bias {
			n += p.out
		}
	}
	return n
}

// product is what a linear map of an MLP is made from.
type product struct {
	name         string
	in, out      int
	weight, bias Init
}

// products are the gate's, where there is one, the first and the last.
func (c MLPConfig) products() []product {
	c = c.resolved()
	l := mlpLayouts[c.Layout]
	of := func(name string, in, out int) product {
		return product{name, in, out, c.Layout.weightInit(in), c.Layout.biasInit(in)}
	}
	first, last := of(l.in, c.Width, c.Hidden), of(l.out, c.Hidden, c.Width)
	if c.OutStd > 0 {
		last.weight = Normal(0, c.OutStd)
	}
	if c.Activation == SwiGLU {
		return []product{of(l.gate, c.Width, c.Hidden), first, last}
	}
	return []product{first, last}
}

// weightInit is how a layout draws the weights of a linear layer by itself.
func (l Layout) weightInit(in int) Init {
	if l == GPT2 || l == Llama {
		return Normal(0, 0.02)
	}
	return linearWeight(in)
}

// biasInit is how a layout draws the bias of a linear layer by itself.
func (l Layout) biasInit(in int) Init {
	if l == GPT2 || l == Llama {
		return Constant(0)
	}
	return linearBias(in)
}

// MLP is the feed-forward part of a transformer's block: two products with an
// activation in between.
type MLP struct {
	name    string    // in errors
	config  MLPConfig // resolved
	weights []Param   // of the config's products
	biases  []*Param  // nil without
}

// NewMLP makes the parameters of the layout:
//
//	Book   fc.weight (Hidden, Width), proj.weight (Width, Hidden)
//	Torch  linear1.weight, linear2.weight, as in nn.TransformerEncoderLayer
//	GPT2   c_fc.weight (Width, Hidden), c_proj.weight (Hidden, Width)
//	Llama  up_proj.weight (Hidden, Width), down_proj.weight (Width, Hidden)
//
// with Bias their .bias, and before them with SwiGLU gate.weight, linear_gate.weight,
// c_gate.weight or gate_proj.weight of the first one's shape.
func NewMLP(s Scope, c MLPConfig) (*MLP, error) {
	if err := s.locate(c.Validate()); err != nil {
		return nil, err
	}
	l := &MLP{name: s.name("MLP"), config: c.resolved()}
	at := layouts[l.config.Layout]
	for _, p := range l.config.products() {
		weight, err := s.Sub(p.name).Param("weight", p.weight, at.weightShape(p.out, p.in)...)
		if err != nil {
			return nil, err
		}
		var bias *Param
		if c.Bias {
			made, err := s.Sub(p.name).Param("bias", p.bias, p.out)
			if err != nil {
				return nil, err
			}
			bias = &made
		}
		l.weights, l.biases = append(l.weights, weight), append(l.biases, bias)
	}
	return l, nil
}

// Forward maps x (…, T, Width) to (…, T, Width).
func (l *MLP) Forward(b *Build, x *G.Node) (*G.Node, error) {
	if err := checkSequence(l.name, "x", b, x, l.config.Width, 0); err != nil {
		return nil, err
	}
	var f expr.Formula
	at, last := layouts[l.config.Layout], len(l.weights)-1
	linear := func(x *G.Node, i int) *G.Node {
		return at.linear(&f, x, f.Of(b.param(l.weights[i])), optionalParam(&f, b, l.biases[i]))
	}
	h := linear(x, last-1) // (…, T, Hidden)
	switch l.config.Activation {
	case SwiGLU:
		h = f.Of(graph.SwiGLU(linear(x, 0), h))
	case ReLU:
		h = f.Of(graph.ReLU(h))
	case SiLU:
		h = f.Of(graph.SiLU(h))
	case GELUTanh:
		h = f.Of(graph.GELUTanh(h))
	default:
		h = f.Of(graph.GELU(h))
	}
	h = f.Of(graph.Dropout(h, b.Drop(l.config.HiddenDropout)))
	y := f.Of(graph.Dropout(linear(h, last), b.Drop(l.config.Dropout)))
	return result(l.name, &f, y)
}
