package layers

import (
	"fmt"
	"strings"

	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// A projection has the parameters that map the inputs of an attention to queries, keys and values.
type projection interface {
	// project returns queries (…, T, H·D), keys (…, S, K·D) and values (…, S, K·Dv).
	project(s *step) (q, k, v *G.Node)
}

// newProjection makes the parameters of a resolved config's projection.
func newProjection(m *maker, c AttentionConfig) projection {
	switch {
	case c.Latent != nil:
		return newLatents(m, c)
	case c.Layout == PerHead:
		return newPerHead(m, c)
	}
	return newSeparate(m, c)
}

// separate maps queries, keys and values by three linear maps. A layout may store the weights or the biases of all
// three maps in one parameter. If the inputs are one sequence, one product then computes all three.
type separate struct {
	each   [3]Linear // unused if the weights are in one parameter
	packed Linear    // unused unless they are
}

// layout returns the layout's entry of the table; the heads of PerHead use Book's. Packing the weights in one parameter
// requires inputs of equal width.
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

func newSeparate(m *maker, c AttentionConfig) *separate {
	at, outs, ins := c.layout(), c.projected(), [3]int{c.EmbedDim, c.KDim, c.VDim}
	all, p := outs[0]+outs[1]+outs[2], &separate{packed: Linear{transposed: at.transposed}}
	if at.packed != "" {
		p.packed.weight = m.weight(at.packed, c.weightInit(c.EmbedDim, all), at, all, c.EmbedDim)
	}
	for i, in := range ins {
		if at.packed == "" {
			p.each[i].weight = m.weight(at.weights[i], c.weightInit(in, outs[i]), at, outs[i], in)
		}
		if at.packedBias == "" {
			p.each[i].bias = m.paramIf(c.QKVBias, at.biases[i], at.biasInit(in), outs[i])
		}
	}
	if at.packedBias != "" {
		p.packed.bias = m.paramIf(c.QKVBias, at.packedBias, Constant(0), all)
	}
	return p
}

// weightInit returns the initialisation of a projection's weight.
func (c AttentionConfig) weightInit(in, out int) Init {
	if c.Layout == Torch {
		return xavierUniform(in, out)
	}
	return c.layout().weightInit(in)
}

func (p *separate) project(s *step) (q, k, v *G.Node) {
	in, widths, isPacked := s.in, s.config.projected(), p.packed.weight != Param{}
	if isPacked && in.Key == in.Query && in.Value == in.Query {
		all := p.packed.apply(s.formula, in.Query)
		if c := s.config; c.QKNorm == "" && c.RoPE == nil && c.extraKeys() == 0 && c.Differential == nil {
			s.packed = all
		}
		qkv := s.columns(all, widths)
		return qkv[0], qkv[1], qkv[2]
	}
	if _, ok := s.b.params.adapters[p.packed.weight.name]; ok {
		s.fail(errorf(p.packed.weight.name, "got an adapter of a packed weight for several sequences, want one sequence"))
	}
	weights, biases := p.nodes(s)
	linear := func(x *G.Node, i int) *G.Node {
		return s.adapted(s.product(x, weights[i], biases[i], p.packed.transposed), x, p.each[i].weight)
	}
	return linear(in.Query, 0), linear(in.Key, 1), linear(in.Value, 2)
}

// nodes returns the weights and biases of the three maps.
func (p *separate) nodes(s *step) (weights, biases [3]*G.Node) {
	widths := s.config.projected()
	for i := range p.each {
		weights[i] = s.optional(p.each[i].weight)
	}
	if packed := s.optional(p.packed.weight); packed != nil && p.packed.transposed {
		weights = s.columns(packed, widths)
	} else if packed != nil {
		weights = s.rows(packed, widths)
	}
	for i := range p.each {
		biases[i] = s.optional(p.each[i].bias)
	}
	if packed := s.optional(p.packed.bias); packed != nil {
		biases = s.rows(packed, widths)
	}
	return weights, biases
}

// rows splits x along its first axis.
func (s *step) rows(x *G.Node, counts [3]int) (parts [3]*G.Node) {
	from := 0
	for i, n := range counts {
		parts[i] = s.Of(graph.Rows(x, from, n))
		from += n
	}
	return parts
}

// columns splits x along its last axis.
func (s *step) columns(x *G.Node, widths [3]int) [3]*G.Node {
	return [3]*G.Node(s.split(x, widths[:]...))
}

// perHead has three linear maps for each head, in the layout PerHead.
type perHead [][3]*Linear

func newPerHead(m *maker, c AttentionConfig) (p perHead) {
	at, ins, outs := c.layout(), [3]int{c.EmbedDim, c.KDim, c.VDim}, [3]int{c.HeadDim, c.HeadDim, c.ValueDim}
	for i := range c.NumHeads {
		var h [3]*Linear
		for j, in := range ins {
			h[j] = part(m, headPath(i)+"."+strings.TrimSuffix(at.weights[j], ".weight"), newLinear,
				LinearConfig{InFeatures: in, OutFeatures: outs[j], Bias: c.QKVBias})
		}
		p = append(p, h)
	}
	return p
}

// headPath returns the path of a head in the layout PerHead.
func headPath(i int) string { return fmt.Sprintf("heads.%d", i) }

func (p perHead) project(s *step) (q, k, v *G.Node) {
	var all [3]*G.Node
	for j, x := range []*G.Node{s.in.Query, s.in.Key, s.in.Value} {
		var heads G.Nodes
		for _, h := range p {
			heads = append(heads, h[j].apply(s.formula, x)) // (…, T, D)
		}
		all[j] = s.Of(graph.Concat(heads...)) // (…, T, H·D)
	}
	return all[0], all[1], all[2]
}

// extraKeys holds the key and value that AddBiasKV appends to those of the sequence.
type extraKeys struct{ key, value Param }

func newExtraKeys(m *maker, c AttentionConfig) (e extraKeys) {
	if c.AddBiasKV {
		K, V := c.keyWidth(), c.valueWidth()
		e.key = m.param("bias_k", xavierNormal(K, K), 1, 1, K)
		e.value = m.param("bias_v", xavierNormal(V, V), 1, 1, V)
	}
	return e
}

// extraKeys returns the number of keys that are appended to the sequence's.
func (c AttentionConfig) extraKeys() (n int) {
	for _, added := range []bool{c.AddBiasKV, c.AddZeroAttn} {
		if added {
			n++
		}
	}
	return n
}

// apply appends the layer's key and value, and those of zeros, if it has them.
func (e extraKeys) apply(s *step, k, v *G.Node) (*G.Node, *G.Node) {
	extend := func(x *G.Node, row Param) *G.Node {
		if s.config.AddBiasKV {
			x = s.Of(graph.AppendRow(x, s.node(row)))
		}
		if s.config.AddZeroAttn {
			x = s.Of(graph.AppendRow(x, nil))
		}
		return x
	}
	return extend(k, e.key), extend(v, e.value)
}
