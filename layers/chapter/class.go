package chapter

import (
	"cmp"
	"slices"

	"attention/graph/mask"
	"attention/internal/config"
	"attention/layers"
)

// A class is one of the chapter's classes; its name is the one in Config.Layer.
type class struct {
	name     string
	fields   []string             // fields of a Config that the class uses
	causal   bool                 // whether no token sees a later one
	width    func(c Config) int   // width of the context vectors
	validate func(c Config) error // of the fields
	make     func(s layers.Scope, c Config) (Layer, error)
}

// classes are the chapter's classes, in its order.
var classes = []class{
	{
		name:     "simple",
		fields:   []string{"EmbedDim"},
		width:    func(c Config) int { return c.EmbedDim },
		validate: func(Config) error { return nil },
		make:     func(layers.Scope, Config) (Layer, error) { return SimpleSelfAttention{}, nil },
	},
	preset("self_v1", func(c Config) layers.AttentionConfig { return SelfV1(c.EmbedDim, c.OutDim) }),
	preset("self_v2", func(c Config) layers.AttentionConfig { return SelfV2(c.EmbedDim, c.OutDim) }, "QKVBias"),
	preset("causal", func(c Config) layers.AttentionConfig { return Causal(c.EmbedDim, c.OutDim) }, "QKVBias"),
	preset("multi_head_wrapper", func(c Config) layers.AttentionConfig {
		return MultiHeadWrapper(c.EmbedDim, c.OutDim, c.NumHeads)
	}, "QKVBias", "NumHeads"),
	preset("multi_head", func(c Config) layers.AttentionConfig {
		return MultiHead(c.EmbedDim, c.OutDim, c.NumHeads)
	}, "QKVBias", "NumHeads"),
	{
		name:     "additive",
		fields:   []string{"QueryDim", "KeyDim", "AttnDim"},
		width:    func(c Config) int { return c.KeyDim },
		validate: func(c Config) error { return c.additive().Validate() },
		make: func(s layers.Scope, c Config) (Layer, error) {
			l, err := NewAdditive(s, c)
			return asLayer(selfAdditive{l}, err)
		},
	},
}

// uses reports whether the class uses a field of a Config.
func (k class) uses(field string) bool { return slices.Contains(k.fields, field) }

// preset returns the class of a layers.Attention with the config that of returns. The class uses the widths of a
// Config, the fields in more and, if it is causal, ContextLength and Dropout.
func preset(name string, of func(c Config) layers.AttentionConfig, more ...string) class {
	k := class{name: name, fields: append([]string{"EmbedDim", "OutDim"}, more...)}
	if _, k.causal = of(Config{}).Mask.(mask.Causal); k.causal {
		k.fields = append(k.fields, "ContextLength", "Dropout")
	}
	attention := func(c Config) layers.AttentionConfig {
		a := of(c)
		a.QKVBias = c.QKVBias && k.uses("QKVBias")
		if k.causal {
			a.ContextLength, a.Dropout = c.ContextLength, c.Dropout
		}
		return a
	}
	k.width = func(c Config) int {
		a := attention(c)
		return cmp.Or(a.OutDim, a.NumHeads*a.HeadDim) // or heads side by side
	}
	k.validate = func(c Config) error {
		if err := config.AtLeast(c, 1, "EmbedDim", "OutDim"); err != nil { // an Attention gives OutDim 0 a meaning
			return err
		}
		return attention(c).Validate()
	}
	k.make = func(s layers.Scope, c Config) (Layer, error) {
		l, err := layers.NewAttention(s, attention(c))
		return asLayer(selfAttention{l}, err)
	}
	return k
}
