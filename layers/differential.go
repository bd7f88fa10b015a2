package layers

import (
	"fmt"
	"math"

	"attention/graph"
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
)

// DifferentialConfig configures differential attention (Ye et al. 2024): a head computes two softmaxes of half its
// width and subtracts the weights of the second, which have the same noise as the first:
//
//	weights = softmax(q₁·k₁ᵀ) − λ·softmax(q₂·k₂ᵀ)   with λ = exp(λq₁·λk₁) − exp(λq₂·λk₂) + λ_init
//	out     = rmsnorm(weights·v)·(1 − λ_init)
//
// q₁ and q₂ are the halves of a head's queries. With shared key/value heads, softmax i of the 2·H softmaxes uses keys
// i/(H/K) of the 2·K key heads, as in the paper's multihead_diffattn.py. Weights may be negative, and each row adds up
// to 1 − λ.
type DifferentialConfig struct {
	// LambdaInit is λ_init, below 1. 0 means the paper's 0.8 − 0.6·exp(−0.3·i) in layer i of a Decoder, counted from 0,
	// and 0.2, the value for layer 0, in an attention outside a Decoder.
	LambdaInit float64 `json:"lambda_init,omitempty"`
}

// subLayerEps is the epsilon that the paper's code adds to the mean square of a head's output.
const subLayerEps = 1e-5

// lambdaInit returns the paper's λ_init of a layer.
func lambdaInit(layer int) float64 { return 0.8 - 0.6*math.Exp(-0.3*float64(layer)) }

// softmaxes returns the numbers of query heads and of key/value heads in the attention op itself, and the width of
// their queries and keys.
func (c AttentionConfig) softmaxes() (heads, keyHeads, width int) {
	if c.Differential != nil {
		return 2 * c.NumHeads, 2 * c.NumKVHeads, c.HeadDim / 2
	}
	return c.NumHeads, c.NumKVHeads, c.HeadDim
}

// validateDifferential checks λ_init and the width of heads.
func (c AttentionConfig) validateDifferential() error {
	d, width := c.Differential, c.resolved().HeadDim
	switch {
	case d == nil:
		return nil
	case !(d.LambdaInit >= 0 && d.LambdaInit < 1):
		return config.Errorf(c, "Differential.LambdaInit", "got %v, want at least 0 and below 1", d.LambdaInit)
	case width%2 != 0:
		return config.Errorf(c, "HeadDim", "got %d with %s, want an even number", width, config.Field("Differential"))
	}
	return nil
}

// differential subtracts the weights of each head's second softmax from those of its first softmax.
type differential struct {
	lambdas [4]Param // q₁, k₁, q₂ and k₂
	norm    *Norm    // of a head's output
}

// newDifferential makes the parameters; nil if there is one softmax.
func newDifferential(m *maker, c AttentionConfig) *differential {
	if c.Differential == nil {
		return nil
	}
	d := &differential{}
	for i, name := range []string{"lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2"} {
		d.lambdas[i] = m.param(name, Normal(0, 0.1), c.HeadDim/2)
	}
	d.norm = part(m, "subln", newNorm, NormConfig{EmbedDim: c.ValueDim, Kind: RMSNorm, Eps: subLayerEps})
	return d
}

// values returns v (…, S, K·Dv), for differential attention with each head twice, once for each softmax.
func (s *step) values(v *G.Node) *G.Node {
	if s.differential == nil {
		return v
	}
	heads := s.axes(v, s.config.NumKVHeads)         // (…, S, K, Dv)
	return s.flat(s.Of(graph.Concat(heads, heads))) // (…, S, 2K·Dv)
}

// difference returns the outputs of heads (…, T, H·Dv), given those of both softmaxes, x (…, T, 2H·Dv).
func (s *step) difference(x *G.Node) *G.Node {
	d := s.differential
	if d == nil {
		return x
	}
	x = d.norm.apply(s.formula, s.less(s.axes(x, s.config.NumHeads)))       // (…, T, H, Dv)
	return s.flat(s.Of(graph.Scale(x, 1-s.config.Differential.LambdaInit))) // (…, T, H·Dv)
}

// differences returns the weights of heads (…, H, T, S), given those of both softmaxes, w (…, 2H, T, S).
func (s *step) differences(w *G.Node) *G.Node {
	if w == nil || s.differential == nil || s.Err() != nil {
		return w
	}
	shape, heads := w.Shape(), s.config.NumHeads
	n := len(shape)
	batch, T, S := shape[:n-3:n-3], shape[n-2], shape[n-1]
	one := s.less(s.reshape(w, append(batch, heads, 2*T*S)...)) // (…, H, T·S)
	return s.reshape(one, append(batch, heads, T, S)...)
}

// less returns the first half of each row of x minus λ times the second.
func (s *step) less(x *G.Node) *G.Node {
	if s.Err() != nil {
		return x
	}
	parts := s.split(x, last(x)/2, last(x)/2)
	return s.Of(graph.Sub(parts[0], s.Of(graph.Mul(parts[1], s.lambda()))))
}

// lambda returns λ (1).
func (s *step) lambda() *G.Node {
	power := func(q, k Param) *G.Node {
		product := s.Of(graph.Mul(s.node(q), s.node(k)))
		return s.Of(graph.Exp(s.Of(graph.Sum(product, graph.ReduceConfig{Dim: []int{-1}, KeepDim: true}))))
	}
	of, init := s.differential.lambdas, s.config.Differential.LambdaInit
	difference := s.Of(graph.Sub(power(of[0], of[1]), power(of[2], of[3])))
	return s.Of(graph.Add(difference, s.constant(fmt.Sprint("lambda_init ", init), []float64{init}, 1)))
}

// axes moves heads that are side by side to an axis of their own, the last but one.
func (s *step) axes(x *G.Node, heads int) *G.Node {
	if s.Err() != nil {
		return x
	}
	shape := x.Shape()
	n := len(shape) - 1
	return s.reshape(x, append(shape[:n:n], heads, shape[n]/heads)...)
}

// flat puts heads side by side again.
func (s *step) flat(x *G.Node) *G.Node {
	if s.Err() != nil {
		return x
	}
	shape := x.Shape()
	n := len(shape) - 2
	return s.reshape(x, append(shape[:n:n], shape[n]*shape[n+1])...)
}
