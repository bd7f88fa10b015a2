package layers

import (
	"slices"

	"attention/graph"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// AdditiveAttentionConfig sizes an AdditiveAttention.
type AdditiveAttentionConfig struct {
	Query, Key int // widths of queries and of keys
	Attn       int // width that both are projected to
}

// Validate says what is wrong with the sizes.
func (c AdditiveAttentionConfig) Validate() error {
	return atLeastOne("AdditiveAttention", size{"Query", c.Query}, size{"Key", c.Key}, size{"Attn", c.Attn})
}

// AdditiveAttention is Bahdanau's attention (Bahdanau, Cho and Bengio 2014) of
// one sequence to another, whose tokens are keys and values:
// score = v·tanh(W_query·query + W_key·key).
type AdditiveAttention struct {
	name          string // in errors
	config        AdditiveAttentionConfig
	query, key, v *Linear
}

// NewAdditiveAttention makes the parameters W_query.weight (Attn, Query),
// W_key.weight (Attn, Key) and v.weight (1, Attn).
func NewAdditiveAttention(s Scope, c AdditiveAttentionConfig) (*AdditiveAttention, error) {
	if err := s.locate(c.Validate()); err != nil {
		return nil, err
	}
	l := &AdditiveAttention{name: s.name("AdditiveAttention"), config: c}
	for _, m := range []struct {
		name string
		size LinearConfig
		to   **Linear
	}{
		{"W_query", LinearConfig{In: c.Query, Out: c.Attn}, &l.query},
		{"W_key", LinearConfig{In: c.Key, Out: c.Attn}, &l.key},
		{"v", LinearConfig{In: c.Attn, Out: 1}, &l.v},
	} {
		var err error
		if *m.to, err = NewLinear(s.Sub(m.name), m.size); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Forward is ForwardWithWeights without the weights.
func (l *AdditiveAttention) Forward(b *Build, query, key *G.Node) (*G.Node, error) {
	return withoutWeights(l.ForwardWithWeights(b, query, key))
}

// ForwardWithWeights maps query ([B,] T, Query) and key ([B,] S, Key), which is
// also the value, to context vectors ([B,] T, Key) and weights ([B,] T, S).
func (l *AdditiveAttention) ForwardWithWeights(b *Build, query, key *G.Node) (out, weights *G.Node, err error) {
	if err := checkSequence(l.name, "query", b, query, l.config.Query, 0); err != nil {
		return nil, nil, err
	}
	if err := checkSequence(l.name, "key", b, key, l.config.Key, 0); err != nil {
		return nil, nil, err
	}
	if n := query.Dims(); n != key.Dims() || !slices.Equal(query.Shape()[:n-2], key.Shape()[:n-2]) {
		return nil, nil, errorf(l.name, "key: shape %v, want the batch of query's %v", key.Shape(), query.Shape())
	}
	var f expr.Formula
	q := f.Of(l.query.Forward(b, query))
	k := f.Of(l.key.Forward(b, key))
	out, weights = f.Of2(graph.AdditiveAttention(q, k, f.Of(b.param(l.v.weight)), key))
	return result2(l.name, &f, out, weights)
}
