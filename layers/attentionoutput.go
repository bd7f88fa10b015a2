package layers

import (
	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

// newOutput makes the parameters of a resolved config's output projection; nil if there is none.
func newOutput(m *maker, c AttentionConfig) *Linear {
	if c.ContextOnly {
		return nil
	}
	at, in := c.layout(), c.contextWidth()
	weight, bias := at.weightInit(in), at.biasInit(in)
	if c.OutStd > 0 {
		weight = Normal(0, c.OutStd)
	}
	if c.Layout == Torch {
		bias = drawnThenZero(bias)
	}
	return &Linear{transposed: at.transposed, weight: m.weight(at.out, weight, at, c.OutDim, in),
		bias: m.paramIf(c.OutBias, at.outBias, bias, c.OutDim)}
}

// addBuffers adds the causal masks that the book's classes keep beside their parameters.
func (l *Attention) addBuffers() {
	c := l.config
	causal, ok := c.Mask.(mask.Causal)
	switch {
	case !ok || causal.Offset != 0:
	case c.Layout == Book:
		l.scope.buffer("mask", CausalBuffer{c.ContextLength})
	case c.Layout == PerHead:
		for i := range c.NumHeads {
			l.scope.Sub(headPath(i)).buffer("mask", CausalBuffer{c.ContextLength})
		}
	}
}

// projectOut is the output projection (…, T, H·Dv) → (…, T, Out), if the layer has one.
func (s *step) projectOut(x *G.Node) *G.Node {
	if s.out == nil {
		return x
	}
	from := "heads"
	if s.config.Gate {
		from = "gated"
	}
	return s.stage("attended", s.out.text(s.formula, from), s.out.apply(s.formula, x))
}

// gated multiplies the heads' outputs by the query's gate, if the layer has one.
func (s *step) gated(x *G.Node) *G.Node {
	if !s.config.Gate {
		return x
	}
	gate := s.linear(s.in.Query, s.gate, Param{}, false)
	return s.stage("gated", "heads⊙sigmoid(input·"+short(s.gate)+"ᵀ)", s.Of(graph.Mul(x, s.Of(graph.Sigmoid(gate)))))
}
