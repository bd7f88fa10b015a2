package layers

import (
	"fmt"

	"attention/graph"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// LanguageModelConfig sizes a LanguageModel.
type LanguageModelConfig struct {
	Vocab     int           `json:"vocab"`   // V, distinct tokens
	Context   int           `json:"context"` // the longest sequence, T
	Width     int           `json:"width"`   // E, of the embeddings
	Attention VariantConfig `json:"attention"`
}

// Validate says what is wrong with the sizes.
func (c LanguageModelConfig) Validate() error {
	if err := atLeastOne("LanguageModel", size{"Vocab", c.Vocab}, size{"Context", c.Context}, size{"Width", c.Width}); err != nil {
		return err
	}
	if err := c.Attention.Validate(); err != nil {
		return err
	}
	a := c.Attention
	widths := []size{{"DIn", a.DIn}}
	if a.Layer == Additive {
		widths = []size{{"DQuery", a.DQuery}, {"DKey", a.DKey}}
	}
	for _, w := range widths {
		if w.got != c.Width {
			return errorf("LanguageModel", "Attention.%s: got %d, want Width=%d", w.name, w.got, c.Width)
		}
	}
	if n := a.ContextLength; n != 0 && n < c.Context {
		return errorf("LanguageModel", "Attention.ContextLength: got %d, want 0 or at least Context=%d", n, c.Context)
	}
	return nil
}

// LanguageModel is the smallest language model that shows what attention learns:
// token and position embeddings, one attention layer, and a projection to the
// scores of the next token.
type LanguageModel struct {
	name              string // in errors
	config            LanguageModelConfig
	tokens, positions Param
	attention         SelfAttention
	output            *Linear
}

// NewLanguageModel makes the parameters tokens.weight (V, E), positions.weight
// (T, E), attention.… and output.weight (V, Out), output.bias (V).
func NewLanguageModel(s Scope, c LanguageModelConfig) (*LanguageModel, error) {
	if err := s.locate(c.Validate()); err != nil {
		return nil, err
	}
	m := &LanguageModel{name: s.name("LanguageModel"), config: c}
	var err error
	if m.tokens, err = s.Sub("tokens").Param("weight", Normal(0, 1), c.Vocab, c.Width); err != nil {
		return nil, err
	}
	if m.positions, err = s.Sub("positions").Param("weight", Normal(0, 1), c.Context, c.Width); err != nil {
		return nil, err
	}
	if m.attention, err = c.Attention.New(s.Sub("attention")); err != nil {
		return nil, err
	}
	m.output, err = NewLinear(s.Sub("output"), LinearConfig{In: c.Attention.Width(), Out: c.Vocab, Bias: true})
	return m, err
}

// Forward maps ids, int (B, T) or (T), to logits (…, T, V).
func (m *LanguageModel) Forward(b *Build, ids *G.Node) (*G.Node, error) {
	x, err := m.embed(b, ids)
	if err != nil {
		return nil, err
	}
	var f expr.Formula
	context := f.Of(m.attention.Forward(b, x))
	logits := f.Of(m.output.Forward(b, context))
	return f.Result(logits)
}

// ForwardWithWeights also returns the attention weights.
func (m *LanguageModel) ForwardWithWeights(b *Build, ids *G.Node) (logits, weights *G.Node, err error) {
	x, err := m.embed(b, ids)
	if err != nil {
		return nil, nil, err
	}
	var f expr.Formula
	context, weights := f.Of2(m.attention.ForwardWithWeights(b, x))
	logits = f.Of(m.output.Forward(b, context))
	return f.Result2(logits, weights)
}

// embed is token plus position: (…, T, E).
func (m *LanguageModel) embed(b *Build, ids *G.Node) (*G.Node, error) {
	var shape tensor.Shape
	got := "nil"
	if ids != nil {
		shape = ids.Shape()
		got = fmt.Sprint(shape)
	}
	if n := len(shape); n < 1 || n > 2 || shape[n-1] > m.config.Context {
		return nil, errorf(m.name, "ids: shape %s, want ([B,] T <= %d)", got, m.config.Context)
	}
	var f expr.Formula
	token := f.Of(graph.Embedding(f.Of(b.param(m.tokens)), ids))
	position := f.Of(graph.Embedding(f.Of(b.param(m.positions)), firstIDs(b, shape[len(shape)-1])))
	x := f.Of(graph.Add(token, position))
	return result(m.name, &f, x)
}

// firstIDs is the constant 0, 1, … n−1.
func firstIDs(b *Build, n int) *G.Node {
	ids := tensor.New(tensor.WithShape(n), tensor.WithBacking(tensor.Range(tensor.Int, 0, n)))
	return G.NewTensor(b.graph, tensor.Int, 1, G.WithShape(n), G.WithName(fmt.Sprintf("positions 0…%d", n-1)), G.WithValue(ids))
}
