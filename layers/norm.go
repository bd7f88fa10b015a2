package layers

import (
	"cmp"

	"attention/graph"
	"attention/internal/config"
	"attention/internal/dense"

	G "gorgonia.org/gorgonia"
)

// NormKind is how a Norm, or an Attention's QKNorm, normalises.
type NormKind string

// The kinds of NormKind.
const (
	LayerNorm NormKind = "layer" // (x − mean)/√(variance + eps)⊙weight + bias (Ba et al. 2016; torch.nn.LayerNorm)
	RMSNorm   NormKind = "rms"   // x/√(mean x² + eps)⊙weight (Zhang and Sennrich 2019; torch.nn.RMSNorm)
	L2Norm    NormKind = "l2"    // x/‖x‖⊙weight, of queries and keys only (Henry et al. 2020)
)

// NormConfig sizes a Norm.
type NormConfig struct {
	EmbedDim int      `json:"embed_dim,omitempty"` // E
	Kind     NormKind `json:"kind,omitempty"`      // LayerNorm or RMSNorm; zero means LayerNorm
	Bias     bool     `json:"bias,omitempty"`      // of LayerNorm; RMSNorm has none
	// UnitOffset makes RMSNorm multiply by 1 + weight, and weight begin with 0 (Gemma).
	UnitOffset bool    `json:"unit_offset,omitempty"`
	Eps        float64 `json:"eps,omitempty"` // 0 means 1e-5 for LayerNorm, 1e-6 for RMSNorm
}

// validate returns an error that names the first wrong field.
func (c NormConfig) validate() error {
	return cmp.Or(config.AtLeast(c, 1, "EmbedDim"), config.AtLeast(c, 0, "Eps"),
		config.AtMost(c, maxElements, "EmbedDim"), config.Check(c, []config.Rule{
			{Settings: "Bias", Exclude: "Kind=rms"}, {Settings: "UnitOffset", Need: "Kind=rms"}}),
		config.OneOf(c, "Kind", cmp.Or(c.Kind, LayerNorm), LayerNorm, RMSNorm))
}

// normEps are the kinds' default Eps.
var normEps = map[NormKind]float64{LayerNorm: 1e-5, RMSNorm: 1e-6, L2Norm: 1e-12}

// Norm is a normalisation with a learned gain.
type Norm struct {
	name         string // in errors
	config       NormConfig
	weight, bias Param
}

// NewNorm makes the parameters weight (E), of ones or with UnitOffset of zeros, and, if asked for, bias (E), of zeros.
func NewNorm(s Scope, c NormConfig) (*Norm, error) { return checked(s, "Norm", c, newNorm) }

func newNorm(s Scope, c NormConfig) (*Norm, error) {
	c = c.resolved()
	m, gain := maker{scope: s}, 1.0
	if c.UnitOffset {
		gain = 0
	}
	return done(&m, &Norm{
		name: s.name("Norm"), config: c,
		weight: m.param("weight", Constant(gain), c.EmbedDim),
		bias:   m.paramIf(c.Bias, "bias", Constant(0), c.EmbedDim),
	})
}

// Forward normalises each row of x (…, T, E).
func (l *Norm) Forward(b *Build, x *G.Node) (*G.Node, error) {
	f := begin(b, l.name)
	if !f.isSequence("x", x, l.config.EmbedDim, 0) {
		return f.result(nil)
	}
	return f.result(l.apply(f, x))
}

// apply is Forward as a step of a formula, of runs of E elements.
func (l *Norm) apply(f *formula, x *G.Node) *G.Node {
	weight := f.gain(l.weight, l.config.UnitOffset)
	switch l.config.Kind {
	case RMSNorm:
		return f.Of(graph.RMSNorm(x, weight, l.config.Eps))
	case L2Norm:
		return f.Of(graph.L2Norm(x, weight, l.config.Eps))
	}
	return f.Of(graph.LayerNorm(x, weight, f.optional(l.bias), l.config.Eps))
}

// gain returns the node of the factor of a norm: its weight, or 1 + weight.
func (f *formula) gain(weight Param, offset bool) *G.Node {
	w := f.node(weight)
	if !offset {
		return w
	}
	dt := f.b.params.dt
	one := G.NewScalar(f.b.graph, dt, G.WithName("one"), G.WithValue(dense.ByType[any](dt, float32(1), float64(1))))
	return f.Of(graph.Add(w, one))
}

// headNorm normalises queries and keys: each head, or with QKNormWhole all heads side by side. Both norms are nil
// without QKNorm.
type headNorm struct{ query, key *Norm }

func newHeadNorm(m *maker, c AttentionConfig) (n headNorm) {
	if c.QKNorm == "" {
		return n
	}
	_, _, width := c.softmaxes()
	widths := [2]int{width, width}
	if c.QKNormWhole {
		widths = [2]int{c.queryWidth(), c.keyWidth()}
	}
	norm := func(name string, width int) *Norm {
		return part(m, name, newNorm, NormConfig{EmbedDim: width, Kind: c.QKNorm, UnitOffset: c.QKNormOffset,
			Eps: c.QKNormEps})
	}
	return headNorm{norm("q_norm", widths[0]), norm("k_norm", widths[1])}
}

func (n headNorm) apply(s *step, q, k *G.Node) (*G.Node, *G.Node) {
	if n.query == nil {
		return q, k
	}
	return n.query.apply(s.formula, q), n.key.apply(s.formula, k)
}
