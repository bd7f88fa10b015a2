package layers

import (
	"cmp"
	"math"

	"attention/graph"
	"attention/internal/config"
	"attention/internal/dense"

	G "gorgonia.org/gorgonia"
)

// EmbeddingConfig sets the sizes of an Embedding.
type EmbeddingConfig struct {
	NumEmbeddings int `json:"num_embeddings"` // V, distinct ids
	EmbeddingDim  int `json:"embedding_dim"`  // E
	// PaddingIdx is the id of the padding, whose row starts at 0 and is not trained; nil means none.
	PaddingIdx *int `json:"padding_idx,omitempty"`

	std float64 // standard deviation of the initial weight; 0 means 1
}

// validate returns an error that names the first wrong field.
func (c EmbeddingConfig) validate() error {
	err := cmp.Or(config.AtLeast(c, 1, "NumEmbeddings", "EmbeddingDim"), config.AtMost(c, maxElements, "EmbeddingDim"))
	if err != nil {
		return err
	}
	if err := tablesFit(c, "EmbeddingDim", c.EmbeddingDim, size{"NumEmbeddings", c.NumEmbeddings}); err != nil {
		return err
	}
	if i := c.PaddingIdx; i != nil && (*i < 0 || *i >= c.NumEmbeddings) {
		return config.Errorf(c, "PaddingIdx", "got %d, want at least 0 and less than %s=%d", *i,
			config.Field("NumEmbeddings"), c.NumEmbeddings)
	}
	return nil
}

// Embedding turns ids into rows of a table (torch.nn.Embedding).
type Embedding struct {
	name    string // in errors
	weight  Param
	padding *int // nil means there is none
}

// NewEmbedding makes the parameter weight (V, E), drawn from a normal distribution with the
// deviation 1.
func NewEmbedding(s Scope, c EmbeddingConfig) (*Embedding, error) {
	return checked(s, "Embedding", c, newEmbedding)
}

func newEmbedding(s Scope, c EmbeddingConfig) (*Embedding, error) {
	m := maker{scope: s}
	l := &Embedding{name: s.name("Embedding")}
	l.weight = m.param("weight", Normal(0, cmp.Or(c.std, 1)), c.NumEmbeddings, c.EmbeddingDim)
	if c.PaddingIdx != nil {
		l.padding = new(*c.PaddingIdx)
		if value := l.weight.Value(); value != nil { // nil if the parameters are only declared
			clear(dense.BytesOf(value, *l.padding*c.EmbeddingDim, (*l.padding+1)*c.EmbeddingDim))
		}
	}
	return done(&m, l)
}

// scaledTable makes an embedding with initial values of deviation 1/√columns.
func scaledTable(m *maker, name string, rows, columns int) *Embedding {
	c := EmbeddingConfig{NumEmbeddings: rows, EmbeddingDim: columns, std: 1 / math.Sqrt(float64(columns))}
	return part(m, name, newEmbedding, c)
}

// Forward maps ids, int or int64 (…), to their rows (…, E). Ids may repeat. The padding's
// row is part of the output and has the gradient 0.
func (l *Embedding) Forward(b *Build, ids *G.Node) (*G.Node, error) {
	f := begin(b, l.name)
	if !f.isNode("ids", ids) {
		return f.result(nil)
	}
	return f.result(l.apply(f, ids))
}

// apply is Forward as a step of a formula.
func (l *Embedding) apply(f *formula, ids *G.Node) *G.Node {
	if l.padding != nil {
		return f.Of(graph.PaddedEmbedding(f.node(l.weight), ids, *l.padding))
	}
	return f.rows(l.weight, ids)
}
