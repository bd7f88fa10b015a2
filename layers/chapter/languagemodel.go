package chapter

import (
	"cmp"
	"errors"
	"fmt"

	"attention/graph"
	"attention/internal/config"
	"attention/internal/expr"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// LanguageModelConfig sets the sizes of a LanguageModel.
type LanguageModelConfig struct {
	VocabSize     int    `json:"vocab_size"`     // V, distinct tokens
	ContextLength int    `json:"context_length"` // the longest sequence, T
	EmbedDim      int    `json:"embed_dim"`      // E
	Attention     Config `json:"attention"`
}

// Validate returns an error that names the first wrong field.
func (c LanguageModelConfig) Validate() error {
	if err := c.validate(); err != nil {
		return fmt.Errorf("chapter: LanguageModel: %w", err)
	}
	return nil
}

func (c LanguageModelConfig) validate() error {
	if err := config.AtLeast(c, 1, "VocabSize", "ContextLength", "EmbedDim"); err != nil {
		return err
	}
	if err := config.In(c, "Attention", c.Attention.Validate()); err != nil {
		return err
	}
	for _, width := range []struct {
		field string
		got   int
	}{{"EmbedDim", c.Attention.EmbedDim}, {"KeyDim", c.Attention.KeyDim}, {"QueryDim", c.Attention.QueryDim}} {
		if c.Attention.Uses(width.field) && width.got != c.EmbedDim {
			return config.Errorf(c, "Attention."+width.field, "got %d, want %s=%d", width.got,
				config.Field("EmbedDim"), c.EmbedDim)
		}
	}
	if n := c.Attention.ContextLength; n != 0 && n < c.ContextLength {
		return config.Errorf(c, "Attention.ContextLength", "got %d, want 0 or at least %s=%d", n,
			config.Field("ContextLength"), c.ContextLength)
	}
	return nil
}

// LanguageModel is the smallest language model that shows what attention learns: token and
// position embeddings, one attention layer, and a projection to the scores of the next
// token.
type LanguageModel struct {
	config            LanguageModelConfig
	params            *layers.Params
	tokens, positions layers.Param
	attention         Layer
	output            *layers.Linear
}

// NewLanguageModel makes the parameters tokens.weight (V, E), positions.weight (T, E),
// attention.… and output.weight (V, Width), output.bias (V).
func NewLanguageModel(s layers.Scope, c LanguageModelConfig) (*LanguageModel, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	m := &LanguageModel{config: c, params: s.Params()}
	var err error
	if m.tokens, err = s.Param("tokens.weight", layers.Normal(0, 1), c.VocabSize, c.EmbedDim); err != nil {
		return nil, err
	}
	if m.positions, err = s.Param("positions.weight", layers.Normal(0, 1), c.ContextLength, c.EmbedDim); err != nil {
		return nil, err
	}
	if m.attention, err = New(s.Sub("attention"), c.Attention); err != nil {
		return nil, err
	}
	output := layers.LinearConfig{InFeatures: c.Attention.Width(), OutFeatures: c.VocabSize, Bias: true}
	m.output, err = layers.NewLinear(s.Sub("output"), output)
	return m, err
}

// Params returns the set that contains the model's parameters.
func (m *LanguageModel) Params() *layers.Params { return m.params }

// Forward maps ids, int (B, T) or (T), to logits (…, T, V).
func (m *LanguageModel) Forward(b *layers.Build, ids *G.Node) (*G.Node, error) {
	var f expr.Formula
	x := f.Of(m.embed(b, ids))          // (…, T, E)
	x = f.Of(m.attention.Forward(b, x)) // (…, T, Width)
	if _, ok := m.attention.(selfAttention); !ok && f.Err() == nil {
		b.Note(layers.Stage{Path: "attention", Name: "heads", Formula: "weights·v of each head", Value: x})
	}
	logits, err := f.Result(f.Of(m.output.Forward(b, x))) // (…, T, V)
	if err != nil {
		return nil, err
	}
	text := "what the attention gives·output.weightᵀ + output.bias"
	return b.Note(layers.Stage{Name: "logits", Formula: text, Value: logits}), nil
}

// Loss returns the mean cross entropy of the logits for ids, in nats: a scalar. targets are
// ids of the same shape; a target that is graph.IgnoreTarget does not count.
func (m *LanguageModel) Loss(b *layers.Build, ids, targets *G.Node) (*G.Node, error) {
	logits, err := m.Forward(b, ids)
	if err != nil {
		return nil, err
	}
	return graph.CrossEntropy(logits, targets, graph.CrossEntropyConfig{})
}

// Weights returns the attention weights (…, H, T, T) for ids.
func (m *LanguageModel) Weights(b *layers.Build, ids *G.Node) (*G.Node, error) {
	var f expr.Formula
	x := f.Of(m.embed(b, ids))
	return f.Result(f.Of(m.attention.Weights(b, x)))
}

// Operands returns the operands of the attention for ids. The layer must not be a layers.Attention; the operands of
// that are in the build's Calls("attention").
func (m *LanguageModel) Operands(b *layers.Build, ids *G.Node) (o layers.AttentionOperands, err error) {
	of, ok := m.attention.(interface {
		Operands(b *layers.Build, x *G.Node) (layers.AttentionOperands, error)
	})
	if !ok {
		return o, errors.New("chapter: LanguageModel: operands: got a layers.Attention, want the build's Calls")
	}
	x, err := m.embed(b, ids)
	if err != nil {
		return o, err
	}
	return of.Operands(b, x)
}

// embed returns token plus position: (…, T, E).
func (m *LanguageModel) embed(b *layers.Build, ids *G.Node) (*G.Node, error) {
	if err := checkBuild(b); err != nil {
		return nil, err
	}
	if ids == nil {
		return nil, fmt.Errorf("chapter: LanguageModel: ids: got nil, want a node")
	}
	shape := ids.Shape()
	n := len(shape)
	if n < 1 || n > 2 || shape[n-1] > m.config.ContextLength {
		const wrong = "chapter: LanguageModel: ids: shape %v, want ([B,] T <= ContextLength=%d)"
		return nil, fmt.Errorf(wrong, shape, m.config.ContextLength)
	}
	var f expr.Formula
	token := f.Of(graph.Embedding(b.Node(m.tokens), ids))
	position := f.Of(graph.Rows(b.Node(m.positions), 0, shape[n-1]))
	x := f.Of(graph.Add(token, position))
	if err := cmp.Or(b.Err(), f.Err()); err != nil {
		return nil, fmt.Errorf("chapter: LanguageModel: %w", err)
	}
	b.Note(layers.Stage{Name: "tokens", Formula: "row of tokens.weight", Value: token})
	b.Note(layers.Stage{Name: "positions", Formula: "row of positions.weight", Value: position})
	return b.Note(layers.Stage{Name: "embedded", Formula: "tokens + positions", Value: x}), nil
}
