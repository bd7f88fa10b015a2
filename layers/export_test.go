package layers

import G "gorgonia.org/gorgonia"

// AllLayouts are the values of Layout.
var AllLayouts = allLayouts

// ForwardCachedAll is ForwardCached with the logits (…, T, V) of the tokens that follow
// each of the chunk's.
func (m *Decoder) ForwardCachedAll(b *Build, ids, start *G.Node, cache DecoderCache) (*G.Node, error) {
	f := begin(b, m.name)
	return f.result(m.score(f, m.transformCached(f, ids, start, nil, cache)))
}
