package layers

import (
	"fmt"

	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

// layout returns the layout's entry of the table; PerHead's heads have Book's. A packed weight
// needs inputs of one width.
func (c AttentionConfig) layout() layout {
	if c.Layout == Raw {
		return layouts[Raw]
	}
	l := c.Layout.names()
	if l.weights[0] != "" && (c.KDim != c.EmbedDim || c.VDim != c.EmbedDim) {
		l.packed = ""
	}
	return l
}

// makeProjections makes the parameters of the projections of queries, keys and values.
func (l *Attention) makeProjections(m *maker) {
	c, at := l.config, l.layout
	outs, ins := c.projected(), [3]int{c.EmbedDim, c.KDim, c.VDim}
	all := outs[0] + outs[1] + outs[2]
	if at.packed != "" {
		l.packedWeight = m.weight(at.packed, c.weightInit(c.EmbedDim, all), at, all, c.EmbedDim)
	}
	for i, in := range ins {
		if at.packed == "" {
			l.qkvWeights[i] = m.weight(at.weights[i], c.weightInit(in, outs[i]), at, outs[i], in)
		}
		if at.packedBias == "" {
			l.qkvBiases[i] = m.paramIf(c.QKVBias, at.biases[i], at.biasInit(in), outs[i])
		}
	}
	if at.packedBias != "" {
		l.packedBias = m.paramIf(c.QKVBias, at.packedBias, Constant(0), all)
	}
}

// headMaps are the projections of one head in the layout PerHead.
type headMaps struct{ weights, biases [3]Param }

// makeHeadMaps makes the parameters of the projections of each head.
func (l *Attention) makeHeadMaps(m *maker) {
	c, at := l.config, l.layout
	ins, outs := [3]int{c.EmbedDim, c.KDim, c.VDim}, [3]int{c.HeadDim, c.HeadDim, c.ValueDim}
	for i := range c.NumHeads {
		var h headMaps
		of := maker{scope: m.scope.Sub(headPath(i)), err: m.err}
		for j, in := range ins {
			h.weights[j] = of.weight(at.weights[j], at.weightInit(in), at, outs[j], in)
			h.biases[j] = of.paramIf(c.QKVBias, at.biases[j], at.biasInit(in), outs[j])
		}
		l.headMaps, m.err = append(l.headMaps, h), of.err
	}
}

// headPath returns the path of a head in the layout PerHead.
func headPath(i int) string { return fmt.Sprintf("heads.%d", i) }

// addBuffers adds the causal masks that the book's classes keep beside their parameters.
func (l *Attention) addBuffers() {
	causal, ok := l.config.Mask.(mask.Causal)
	if !ok || causal.Offset != 0 {
		return
	}
	if l.config.Layout == Book {
		l.scope.buffer("mask", CausalBuffer{l.config.ContextLength})
	}
	for i := range l.headMaps {
		l.scope.Sub(headPath(i)).buffer("mask", CausalBuffer{l.config.ContextLength})
	}
}

// weightInit returns how the weight of a projection is drawn.
func (c AttentionConfig) weightInit(in, out int) Init {
	if c.Layout == Torch {
		return xavierUniform(in, out)
	}
	return c.layout().weightInit(in)
}

// makeOutput makes the parameters of the output projection, unless there is none.
func (l *Attention) makeOutput(m *maker) {
	c, at, in := l.config, l.layout, l.config.contextWidth()
	if c.ContextOnly {
		return
	}
	weight, bias := at.weightInit(in), at.biasInit(in)
	if c.OutStd > 0 {
		weight = Normal(0, c.OutStd)
	}
	if c.Layout == Torch {
		bias = drawnThenZero(bias)
	}
	l.out = m.weight(at.out, weight, at, c.OutDim, in)
	l.outBias = m.paramIf(c.OutBias, at.outBias, bias, c.OutDim)
}

// project maps the inputs to queries (…, T, H·D), keys (…, S, K·D) and values
// (…, S, K·Dv). Packed weights map a sequence to all three by one product.
func (s *step) project() (q, k, v *G.Node) {
	if s.latent != nil {
		return s.projectLatent()
	}
	if s.headMaps != nil {
		return s.projectHeads()
	}
	in, widths := s.in, s.config.projected()
	if s.layout.packed != "" && in.Key == in.Query && in.Value == in.Query {
		all := s.linear(in.Query, s.packedWeight, s.packedBias, s.layout.transposed)
		if c := s.config; c.QKNorm == "" && c.RoPE == nil && c.extraKeys() == 0 && c.Differential == nil {
			s.packed = all
		}
		qkv := s.columns(all, widths)
		return qkv[0], qkv[1], qkv[2]
	}
	if _, ok := s.b.params.adapters[s.packedWeight.name]; ok {
		s.fail(errorf(s.packedWeight.name, "got an adapter of a packed weight for several sequences, want one sequence"))
	}
	weights, biases := s.projections()
	linear := func(x *G.Node, i int) *G.Node {
		return s.adapted(s.product(x, weights[i], biases[i], s.layout.transposed), x, s.qkvWeights[i])
	}
	return linear(in.Query, 0), linear(in.Key, 1), linear(in.Value, 2)
}

// projectHeads is project in the layout PerHead.
func (s *step) projectHeads() (q, k, v *G.Node) {
	var all [3]*G.Node
	for j, x := range []*G.Node{s.in.Query, s.in.Key, s.in.Value} {
		var heads G.Nodes
		for _, h := range s.headMaps {
			heads = append(heads, s.linear(x, h.weights[j], h.biases[j], false)) // (…, T, D)
		}
		all[j] = s.Of(graph.Concat(heads...)) // (…, T, H·D)
	}
	return all[0], all[1], all[2]
}

// projections returns the weights and biases of the three projections.
func (s *step) projections() (weights, biases [3]*G.Node) {
	widths := s.config.projected()
	for i, p := range s.qkvWeights {
		weights[i] = s.optional(p)
	}
	if packed := s.optional(s.packedWeight); packed != nil && s.layout.transposed {
		weights = s.columns(packed, widths)
	} else if packed != nil {
		weights = s.rows(packed, widths)
	}
	for i, p := range s.qkvBiases {
		biases[i] = s.optional(p)
	}
	if packed := s.optional(s.packedBias); packed != nil {
		biases = s.rows(packed, widths)
	}
	return weights, biases
}

// rows cuts x along its first axis.
func (s *step) rows(x *G.Node, counts [3]int) (parts [3]*G.Node) {
	from := 0
	for i, n := range counts {
		parts[i] = s.Of(graph.Rows(x, from, n))
		from += n
	}
	return parts
}

// columns cuts x along its last axis.
func (s *step) columns(x *G.Node, widths [3]int) [3]*G.Node {
	return [3]*G.Node(s.split(x, widths[:]...))
}

// projectOut is the output projection (…, T, H·Dv) → (…, T, Out), if the layer has one.
func (s *step) projectOut(x *G.Node) *G.Node {
	if s.config.ContextOnly {
		return x
	}
	from := "heads"
	if s.config.Gate {
		from = "gated"
	}
	text := s.linearText(from, s.out, s.outBias, s.layout.transposed)
	return s.stage("attended", text, s.linear(x, s.out, s.outBias, s.layout.transposed))
}
