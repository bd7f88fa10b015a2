package layers

import G "gorgonia.org/gorgonia"

// AllLayouts are the values of Layout.
var AllLayouts = allLayouts

// ForwardCachedAll is ForwardCached with the logits (…, T, V) of the tokens that follow
// each of the chunk's.
func (m *GPT) ForwardCachedAll(b *Build, ids, start *G.Node, cache GPTCache) (*G.Node, error) {
	f, x, err := m.transformCached(b, ids, start, cache)
	if err != nil {
		return nil, err
	}
	return f.result(m.score(f, x))
}
