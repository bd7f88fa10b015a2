package layers

import (
	"strings"

	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

// newOutput makes the parameters of a resolved config's output projection; nil if there is none.
func newOutput(m *maker, c AttentionConfig) *Linear {
	if c.ContextOnly {
		return nil
	}
	return part(m, strings.TrimSuffix(c.layout().out, ".weight"), newLinear, LinearConfig{InFeatures: c.contextWidth(),
		OutFeatures: c.OutDim, Bias: c.OutBias, layout: c.Layout, zero: c.Layout == Torch, std: c.OutStd})
}

// newGate makes the parameter of the gate of the heads' outputs; nil if there is none.
func newGate(m *maker, c AttentionConfig) *Linear {
	if !c.Gate {
		return nil
	}
	return part(m, "gate_proj", newLinear, LinearConfig{InFeatures: c.EmbedDim, OutFeatures: c.contextWidth()})
}

// addBuffers adds the causal masks that the book's classes store beside their parameters.
func (l *Attention) addBuffers() {
	c := l.config
	causal, ok := c.Mask.(mask.Causal)
	switch {
	case !ok || causal.Offset != 0:
	case c.Layout == Book:
		l.scope.buffer("mask", c.ContextLength)
	case c.Layout == PerHead:
		for i := range c.NumHeads {
			l.scope.Sub(headPath(i)).buffer("mask", c.ContextLength)
		}
	}
}

// projectOut applies the output projection (…, T, H·Dv) → (…, T, Out), if the layer has one.
func (s *step) projectOut(x *G.Node) *G.Node {
	if s.out == nil {
		return x
	}
	from := "heads"
	if s.gate != nil {
		from = "gated"
	}
	return s.stage("attended", s.out.text(s.formula, from), s.out.apply(s.formula, x))
}

// gated multiplies the heads' outputs by the query's gate, if the layer has one.
func (s *step) gated(x *G.Node) *G.Node {
	if s.gate == nil {
		return x
	}
	gate := s.gate.apply(s.formula, s.in.Query)
	return s.stage("gated", "heads⊙sigmoid(input·"+short(s.gate.weight)+"ᵀ)", s.Of(graph.Mul(x, s.Of(graph.Sigmoid(gate)))))
}
