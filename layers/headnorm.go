package layers

import G "gorgonia.org/gorgonia"

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
