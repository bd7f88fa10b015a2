package layers

import (
	"cmp"
	"slices"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
)

// AdditiveAttentionConfig sets the sizes of an AdditiveAttention.
type AdditiveAttentionConfig struct {
	QueryDim int `json:"query_dim"` // width of the queries
	KeyDim   int `json:"key_dim"`   // width of the keys
	AttnDim  int `json:"attn_dim"`  // width to which both are projected
}

// Validate returns an error that names the first wrong field.
func (c AdditiveAttentionConfig) Validate() error { return inLayer("AdditiveAttention", c.validate()) }

func (c AdditiveAttentionConfig) validate() error {
	err := cmp.Or(config.AtLeast(c, 1, "QueryDim", "KeyDim", "AttnDim"), config.AtMost(c, maxElements, "AttnDim"))
	if err != nil {
		return err
	}
	return tablesFit(c, "AttnDim", c.AttnDim, size{"QueryDim", c.QueryDim}, size{"KeyDim", c.KeyDim})
}

// AdditiveAttention is Bahdanau's attention (Bahdanau, Cho and Bengio 2014) of one sequence to another, whose tokens
// are both keys and values: score = v·tanh(W_query·query + W_key·key).
type AdditiveAttention struct {
	name          string // in errors
	config        AdditiveAttentionConfig
	query, key, v *Linear
}

// NewAdditiveAttention makes the parameters W_query.weight (A, QueryDim),
// W_key.weight (A, KeyDim) and v.weight (1, A), with A = AttnDim.
func NewAdditiveAttention(s Scope, c AdditiveAttentionConfig) (*AdditiveAttention, error) {
	return checked(s, "AdditiveAttention", c, newAdditiveAttention)
}

func newAdditiveAttention(s Scope, c AdditiveAttentionConfig) (*AdditiveAttention, error) {
	m := maker{scope: s}
	return done(&m, &AdditiveAttention{
		name: s.name("AdditiveAttention"), config: c,
		query: part(&m, "W_query", newLinear, LinearConfig{InFeatures: c.QueryDim, OutFeatures: c.AttnDim}),
		key:   part(&m, "W_key", newLinear, LinearConfig{InFeatures: c.KeyDim, OutFeatures: c.AttnDim}),
		v:     part(&m, "v", newLinear, LinearConfig{InFeatures: c.AttnDim, OutFeatures: 1}),
	})
}

// Forward maps query ([B,] T, QueryDim) and key ([B,] S, KeyDim) to context vectors
// ([B,] T, KeyDim). The key is also the value.
func (l *AdditiveAttention) Forward(b *Build, query, key *G.Node) (*G.Node, error) {
	f := begin(b, l.name)
	out, _ := l.forward(f, query, key)
	return f.result(out)
}

// Weights returns the attention weights ([B,] 1, T, S).
func (l *AdditiveAttention) Weights(b *Build, query, key *G.Node) (*G.Node, error) {
	f := begin(b, l.name)
	_, weights := l.forward(f, query, key)
	return f.result(f.Of(graph.SplitHeads(weights, 1)))
}

// Operands returns the projected queries ([B,] T, A) and keys ([B,] S, A), the unprojected keys as values, and the
// vector v of the scores.
func (l *AdditiveAttention) Operands(b *Build, query, key *G.Node) (AttentionOperands, error) {
	f := begin(b, l.name)
	o := l.operands(f, query, key)
	return o, f.failure()
}

func (l *AdditiveAttention) forward(f *formula, query, key *G.Node) (out, weights *G.Node) {
	o := l.operands(f, query, key)
	return l.attend(f, o.Query, o.Key, key, nil)
}

// attend returns the context vectors (…, T, KeyDim) and the weights (…, T, S) for queries (…, T, A) and keys (…, S, A)
// that are already projected.
func (l *AdditiveAttention) attend(f *formula, q, k, value *G.Node, m mask.Mask) (out, weights *G.Node) {
	return f.Of2(f.b.precision.AdditiveAttention(q, k, f.node(l.v.weight), value, m))
}

func (l *AdditiveAttention) operands(f *formula, query, key *G.Node) (o AttentionOperands) {
	if !f.isSequence("query", query, l.config.QueryDim, 0) || !f.isSequence("key", key, l.config.KeyDim, 0) {
		return o
	}
	if n := query.Dims(); n != key.Dims() || !slices.Equal(query.Shape()[:n-2], key.Shape()[:n-2]) {
		f.fail(errorf(l.name, "key: shape %v, want the batch of query's %v", key.Shape(), query.Shape()))
		return o
	}
	o.Query = l.query.apply(f, query) // (…, T, A)
	o.Key = l.key.apply(f, key)       // (…, S, A)
	o.Value = key                     // (…, S, KeyDim)
	o.ProjectedQuery, o.ProjectedKey, o.Additive = o.Query, o.Key, f.node(l.v.weight)
	o.Config.Heads, o.Config.KVHeads = 1, 1
	return o
}
