package pretrained

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"attention/internal/config"
)

// settings are the keys of config.json of all families except GPT-2. A family's table lists the keys that it has.
type settings struct {
	VocabSize        int     `json:"vocab_size"`
	HiddenSize       int     `json:"hidden_size"`
	IntermediateSize int     `json:"intermediate_size"`
	NumHiddenLayers  int     `json:"num_hidden_layers"`
	NumHeads         int     `json:"num_attention_heads"`
	NumKVHeads       int     `json:"num_key_value_heads"` // 0 means NumHeads
	HeadDim          int     `json:"head_dim"`            // 0 means HiddenSize/NumHeads
	MaxPositions     int     `json:"max_position_embeddings"`
	HiddenAct        string  `json:"hidden_act"`
	HiddenActivation string  `json:"hidden_activation"` // Gemma's
	RMSNormEps       float64 `json:"rms_norm_eps"`
	LayerNormEps     float64 `json:"layer_norm_eps"`

	AttentionBias       bool    `json:"attention_bias"`
	MLPBias             bool    `json:"mlp_bias"`
	AttentionDropout    float64 `json:"attention_dropout"`
	HiddenDropout       float64 `json:"hidden_dropout"`
	TieWordEmbeddings   bool    `json:"tie_word_embeddings"`
	UseParallelResidual bool    `json:"use_parallel_residual"`

	RopeTheta         float64         `json:"rope_theta"`
	RopeScaling       json.RawMessage `json:"rope_scaling"`
	RopeParameters    json.RawMessage `json:"rope_parameters"`      // transformers 5's key; RopeScaling takes precedence
	RopeLocalBaseFreq float64         `json:"rope_local_base_freq"` // for layers with a window
	RotaryEmbBase     float64         `json:"rotary_emb_base"`      // GPT-NeoX's rope_theta
	RotaryPct         float64         `json:"rotary_pct"`
	PartialRotary     float64         `json:"partial_rotary_factor"`            // other families' name of RotaryPct
	OriginalLength    int             `json:"original_max_position_embeddings"` // replaces the value in rope_parameters
	NoRopeLayers      []int           `json:"no_rope_layers"`                   // 0 means that the layer has no positions
	NoRopeInterval    int             `json:"no_rope_layer_interval"`

	SlidingWindow        int      `json:"sliding_window"` // 0 means none
	UseSlidingWindow     bool     `json:"use_sliding_window"`
	MaxWindowLayers      int      `json:"max_window_layers"` // the first layer with a window
	LayerTypes           []string `json:"layer_types"`
	SlidingWindowPattern int      `json:"sliding_window_pattern"`

	QueryPreAttnScalar    float64 `json:"query_pre_attn_scalar"` // scores are divided by its square root
	AttnLogitSoftcapping  float64 `json:"attn_logit_softcapping"`
	FinalLogitSoftcapping float64 `json:"final_logit_softcapping"`

	dtype string // type of the weights, to which the scale of Gemma's embeddings is rounded
}

// fields returns the fields of settings by their keys.
func (s *settings) fields() map[string]reflect.Value {
	v, all := reflect.ValueOf(s).Elem(), map[string]reflect.Value{}
	for i := range v.NumField() {
		if key := v.Type().Field(i).Tag.Get("json"); key != "" {
			all[key] = v.Field(i)
		}
	}
	return all
}

// knows reports whether the family has a key.
func (f *family) knows(key string) bool { return slices.Contains(strings.Fields(f.keys), key) }

// settings reads a config.json. A key with null counts as 0, unlike a key that is left out.
func (f *family) settings(contents []byte, dtype string) (settings, error) {
	s := f.absent
	s.dtype = cmp.Or(dtype, "float32")
	own, fields := members(contents), s.fields()
	for key, value := range own {
		switch {
		case !f.knows(key):
			delete(own, key)
		case string(value) == "null":
			fields[key].SetZero()
			delete(own, key)
		}
	}
	text, err := json.Marshal(own)
	if err != nil {
		return settings{}, err
	}
	if err := config.Decode(text, &s); err != nil {
		return settings{}, err
	}
	return s, config.JSON(s.validate())
}

// maxLayers is larger than the number of layers of any model. It bounds the memory that is allocated for each layer.
const maxLayers = 1 << 16

// validate checks the settings from which a decoder's config is computed. That config checks all other values.
func (s settings) validate() error {
	err := cmp.Or(config.AtLeast(s, 1, "VocabSize", "HiddenSize", "IntermediateSize", "NumHiddenLayers", "NumHeads",
		"MaxPositions"), config.AtMost(s, maxLayers, "NumHiddenLayers"),
		config.AtLeast(s, 0, "NumKVHeads", "HeadDim", "SlidingWindow", "NoRopeInterval", "QueryPreAttnScalar",
			"AttnLogitSoftcapping", "FinalLogitSoftcapping", "SlidingWindowPattern", "RotaryPct"))
	switch {
	case err != nil:
		return err
	case s.HeadDim == 0 && s.HiddenSize%s.NumHeads != 0:
		return config.Errorf(s, "NumHeads", "got %d, want a divisor of %s=%d, or %s", s.NumHeads, config.Field("HiddenSize"),
			s.HiddenSize, config.Field("HeadDim"))
	case s.LayerTypes != nil && len(s.LayerTypes) != s.NumHiddenLayers:
		return config.Errorf(s, "LayerTypes", "got %d, want one for each of the %d layers", len(s.LayerTypes),
			s.NumHiddenLayers)
	case s.NoRopeLayers != nil && len(s.NoRopeLayers) < s.NumHiddenLayers:
		return config.Errorf(s, "NoRopeLayers", "got %d, want one for each of the %d layers", len(s.NoRopeLayers),
			s.NumHiddenLayers)
	}
	return nil
}
