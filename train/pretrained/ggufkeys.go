package pretrained

import (
	"cmp"

	"attention/graph"
	"attention/internal/gguf"
	"attention/layers"
)

// ggufKey is a setting of a model in a GGUF file.
type ggufKey struct {
	name  string                 // follows the form's name and a dot
	key   string                 // of a config.json, with the same value; "" if it has none
	value func(m *ggufModel) any // its value for a model; nil if the form does not write it
}

// ggufKeys lists all settings of models, in the order of a file.
var ggufKeys = []ggufKey{
	{"attention.head_count", "num_attention_heads", size(func(m *ggufModel) int { return m.kind.Attention.NumHeads })},
	{"attention.head_count_kv", "num_key_value_heads", size(func(m *ggufModel) int {
		return m.kind.Attention.NumKVHeads
	})},
	{"attention.key_length", "head_dim", size(func(m *ggufModel) int { return m.kind.Attention.HeadDim })},
	{"attention.value_length", "", size(func(m *ggufModel) int { return m.kind.Attention.HeadDim })},
	{"block_count", "num_hidden_layers", size(func(m *ggufModel) int { return m.NumLayers })},
	{"context_length", "max_position_embeddings", size(func(m *ggufModel) int { return m.context })},
	{"embedding_length", "hidden_size", size(func(m *ggufModel) int { return m.kind.Attention.EmbedDim })},
	{"feed_forward_length", "intermediate_size", size(func(m *ggufModel) int {
		return m.kind.MLP.DimFeedforward
	})},
	{"attention.layer_norm_rms_epsilon", "rms_norm_eps", func(m *ggufModel) any { return m.epsilon(layers.RMSNorm) }},
	{"attention.layer_norm_epsilon", "layer_norm_eps", func(m *ggufModel) any { return m.epsilon(layers.LayerNorm) }},
	{"use_parallel_residual", "use_parallel_residual", func(m *ggufModel) any {
		return just(m.family == &gptNeoX, m.kind.Parallel)
	}},
	{"attn_logit_softcapping", "attn_logit_softcapping", func(m *ggufModel) any {
		return just(m.capped, float32(m.kind.Attention.Softcap))
	}},
	{"final_logit_softcapping", "final_logit_softcapping", func(m *ggufModel) any {
		return just(m.capped, float32(m.LogitSoftcap))
	}},
	{"attention.sliding_window", "sliding_window", func(m *ggufModel) any {
		return just(m.slides, uint32(cmp.Or(m.window, m.context)))
	}},
	{"attention.sliding_window_pattern", "", func(m *ggufModel) any { return just(m.slides, uint32(m.period)) }},
	{"rope.freq_base_swa", "rope_local_base_freq", func(m *ggufModel) any {
		if !m.slides || m.local == nil {
			return nil
		}
		return float32(base(m.local))
	}},
	{"rope.dimension_count", "", ofRoPE(func(m *ggufModel, r *graph.RoPEConfig) any {
		return uint32(r.Dims)
	})},
	{"rope.freq_base", "rope_theta", ofRoPE(func(m *ggufModel, r *graph.RoPEConfig) any {
		return float32(base(r))
	})},
	{"rope.scaling.type", "", ofRoPE(func(_ *ggufModel, r *graph.RoPEConfig) any {
		return just(scaled(r), r.Scaling.String())
	})},
	{"rope.scaling.factor", "", ofRoPE(func(_ *ggufModel, r *graph.RoPEConfig) any {
		return just(scaled(r), float32(r.Factor))
	})},
	{"rope.scaling.original_context_length", "", ofRoPE(func(_ *ggufModel, r *graph.RoPEConfig) any {
		return just(r.Scaling == graph.YaRNScaling, uint32(r.OriginalLength))
	})},
}

// settings returns the settings of the model.
func (m *ggufModel) settings() (all []gguf.Setting) {
	for _, k := range ggufKeys {
		if value := k.value(m); value != nil {
			all = append(all, gguf.Setting{Key: m.name + "." + k.name, Value: value})
		}
	}
	return all
}

// just returns a value, and whether there is one.
func just(is bool, value any) any {
	if is {
		return value
	}
	return nil
}

// size returns a value that is a size of the model.
func size(of func(m *ggufModel) int) func(*ggufModel) any {
	return func(m *ggufModel) any { return uint32(of(m)) }
}

// epsilon returns the eps of norms of a kind.
func (m *ggufModel) epsilon(kind layers.NormKind) any {
	return just(m.kind.Norm.Kind == kind, float32(m.kind.Norm.Eps))
}

// ofRoPE returns a value of rotary positions.
func ofRoPE(value func(*ggufModel, *graph.RoPEConfig) any) func(*ggufModel) any {
	return func(m *ggufModel) any {
		if r := cmp.Or(m.global, m.local); r != nil {
			return value(m, r)
		}
		return nil
	}
}

// scaled reports whether settings contain the scaling of positions; Llama 3's scaling is a tensor instead.
func scaled(r *graph.RoPEConfig) bool {
	return r.Scaling == graph.LinearScaling || r.Scaling == graph.YaRNScaling
}
