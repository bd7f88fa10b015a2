package layers

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// extraKeys are the key and value that AddBiasKV adds to those of the sequence.
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

// apply appends the layer's row and a row of zeros to keys and values, if it has them.
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
