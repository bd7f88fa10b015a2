package chapter

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"attention/internal/config"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// Names returns the names of the chapter's layers, in its order.
func Names() (names []string) {
	for _, k := range classes {
		names = append(names, k.name)
	}
	return names
}

// Config is one of the chapter's layers by name. A layer ignores the fields that it does not
// use; see Uses.
type Config struct {
	Layer    string `json:"layer"`               // one of Names
	EmbedDim int    `json:"embed_dim,omitempty"` // width of the tokens
	// OutDim is the width of the context vectors; for multi_head_wrapper the width of one head's.
	OutDim        int     `json:"out_dim,omitempty"`
	ContextLength int     `json:"context_length,omitempty"` // longest sequence of the causal layers; 0 means no limit
	NumHeads      int     `json:"num_heads,omitempty"`      // of multi_head and multi_head_wrapper
	QKVBias       bool    `json:"qkv_bias,omitempty"`       // of self_v2 and the causal layers
	Dropout       float64 `json:"dropout,omitempty"`        // of the causal layers' weights, in Train graphs
	QueryDim      int     `json:"query_dim,omitempty"`      // additive: width of the queries
	KeyDim        int     `json:"key_dim,omitempty"`        // additive: width of the keys
	AttnDim       int     `json:"attn_dim,omitempty"`       // additive: width to which both are projected
}

// class returns the class of the layer, the zero class if there is none of that name.
func (c Config) class() class {
	i := slices.IndexFunc(classes, func(k class) bool { return k.name == c.Layer })
	if i < 0 {
		return class{}
	}
	return classes[i]
}

// Causal reports whether no token of the layer sees a later one.
func (c Config) Causal() bool { return c.class().causal }

// Uses reports whether the layer uses a field of the config, such as "NumHeads".
func (c Config) Uses(field string) bool { return c.class().uses(field) }

// Width returns the width of the context vectors; 0 for a layer that is none of Names.
func (c Config) Width() int {
	if k := c.class(); k.width != nil {
		return k.width(c)
	}
	return 0
}

// Validate returns an error that names the first wrong field. Fields that the layer does not
// use have to be in range, too.
func (c Config) Validate() error {
	if err := config.OneOf(c, "Layer", c.Layer, Names()...); err != nil {
		return fmt.Errorf("chapter: %w", err)
	}
	sizes := []string{"EmbedDim", "OutDim", "NumHeads", "QueryDim", "KeyDim", "AttnDim"}
	err := cmp.Or(c.validateLayer(), config.Probability(c, "Dropout"), config.AtLeast(c, 0, "ContextLength"),
		config.AtLeast(c, 0, sizes...), config.AtMost(c, math.MaxInt32, sizes...), config.AtMost(c, maxHeads,
			"NumHeads"))
	if err != nil {
		return fmt.Errorf("chapter: %s: %w", c.Layer, err)
	}
	return nil
}

// maxHeads is the largest number of heads of a layers.Attention.
const maxHeads = 1 << 16

// validateLayer checks the fields that the layer uses.
func (c Config) validateLayer() error {
	return config.From(c, c.class().validate(c), map[string]string{
		"EmbedDim": "EmbedDim", "OutDim": "OutDim", "HeadDim": "OutDim", "NumHeads": "NumHeads", "Dropout": "Dropout",
		"ContextLength": "ContextLength", "QueryDim": "QueryDim", "KeyDim": "KeyDim", "AttnDim": "AttnDim",
	})
}

// Layer is one of the chapter's layers as attention of a sequence to itself.
type Layer interface {
	// Forward maps x (T, EmbedDim) or (B, T, EmbedDim) to context vectors (…, T, Width).
	Forward(b *layers.Build, x *G.Node) (*G.Node, error)
	// Weights returns the attention weights (…, H, T, T) that Forward has for x: after
	// dropout in a Train graph.
	Weights(b *layers.Build, x *G.Node) (*G.Node, error)
}

// New makes the layer. The additive layer attends from a sequence to itself.
func New(s layers.Scope, c Config) (Layer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c.class().make(s, c)
}

// NewAdditive makes the additive layer, for queries and keys of different sequences.
func NewAdditive(s layers.Scope, c Config) (*layers.AdditiveAttention, error) {
	return layers.NewAdditiveAttention(s, c.additive())
}

// asLayer returns a constructor's layer, or an untyped nil if the constructor failed.
func asLayer[L Layer](l L, err error) (Layer, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (c Config) additive() layers.AdditiveAttentionConfig {
	return layers.AdditiveAttentionConfig{QueryDim: c.QueryDim, KeyDim: c.KeyDim, AttnDim: c.AttnDim}
}

// selfAttention is an Attention of a sequence to itself.
type selfAttention struct{ *layers.Attention }

func (l selfAttention) Weights(b *layers.Build, x *G.Node) (*G.Node, error) {
	return l.Attention.Weights(b, layers.AttentionInput{Query: x})
}

// selfAdditive is additive attention of a sequence to itself.
type selfAdditive struct{ *layers.AdditiveAttention }

func (l selfAdditive) Forward(b *layers.Build, x *G.Node) (*G.Node, error) {
	return l.AdditiveAttention.Forward(b, x, x)
}

func (l selfAdditive) Weights(b *layers.Build, x *G.Node) (*G.Node, error) {
	return l.AdditiveAttention.Weights(b, x, x)
}

func (l selfAdditive) Operands(b *layers.Build, x *G.Node) (layers.AttentionOperands, error) {
	return l.AdditiveAttention.Operands(b, x, x)
}
