package pretrained

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"attention/layers"
)

// config returns config.json: as it was read, or with all keys of the family.
func (t *target) config() ([]byte, error) {
	switch {
	case t.origin != nil && t.dtype == "" && t.Labels == nil:
		return t.origin.config, nil
	case t.origin == nil && t.family == &gpt2:
		return t.gptConfig()
	}
	fields := map[string]any{}
	if t.origin != nil {
		for key, value := range members(t.origin.config) {
			fields[key] = value
		}
	} else {
		fields = t.keys()
	}
	key := "torch_dtype"
	if fields["dtype"] != nil {
		key = "dtype"
	}
	if t.dtype != "" {
		fields[key] = t.dtype
	}
	t.addLabels(fields)
	return jsonOf(fields)
}

func jsonOf(fields map[string]any) ([]byte, error) {
	text, err := json.MarshalIndent(fields, "", "  ")
	return append(text, '\n'), err
}

// keys returns the keys of a config.json of the family.
func (t *target) keys() map[string]any {
	s := t.family.settingsOf(t.Model.Config(), t.dtype)
	fields := map[string]any{"model_type": t.family.name, "architectures": []string{t.family.architecture},
		"bos_token_id": nil, "eos_token_id": nil, "use_cache": true}
	for key, value := range s.fields() {
		switch zero, ok := unset[key]; {
		case !t.family.knows(key) || key == "rope_parameters":
		case !ok || !value.IsZero():
			fields[key] = value.Interface()
		case zero == "null":
			fields[key] = nil
		}
	}
	if t.EndOfText >= 0 {
		fields["bos_token_id"], fields["eos_token_id"] = t.EndOfText, t.EndOfText
	}
	if t.Tokenizer != nil {
		fields["vocabulary"] = t.Tokenizer.Config()
	}
	return fields
}

// unset says how keys with the value 0 are written: as null, or not at all.
var unset = map[string]string{"sliding_window": "null", "layer_types": "null", "no_rope_layers": "null",
	"rope_scaling": "null", "attn_logit_softcapping": "null", "final_logit_softcapping": "null",
	"sliding_window_pattern": "", "no_rope_layer_interval": "", "rope_local_base_freq": "",
	"partial_rotary_factor": "", "original_max_position_embeddings": ""}

// gptConfig returns GPT-2's config.json with all default values.
func (t *target) gptConfig() ([]byte, error) {
	c, _ := t.Model.Config().GPT()
	c.Eps = cmp.Or(c.Eps, 1e-5)
	if t.format == HuggingFace {
		c.NumKVHeads = 0 // equal to the number of query heads
		c.Bias = c.Bias || c.QKVBias != nil && *c.QKVBias
		c.QKVBias, c.Initializer = nil, ""
	}
	text, err := json.Marshal(gpt2Config(c))
	if err != nil {
		return nil, err
	}
	fields := map[string]any{"n_inner": nil, "bos_token_id": nil, "eos_token_id": nil}
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	if t.EndOfText >= 0 {
		fields["bos_token_id"], fields["eos_token_id"] = t.EndOfText, t.EndOfText
	}
	if t.Tokenizer != nil {
		fields["vocabulary"] = t.Tokenizer.Config()
	}
	if t.format == Torch {
		fields["format"] = Torch
		return jsonOf(fields)
	}
	fields["model_type"], fields["architectures"] = t.family.name, []string{t.family.architecture}
	fields["scale_attn_weights"] = true
	fields["torch_dtype"] = t.dtype
	t.addLabels(fields)
	return jsonOf(fields)
}

// familyFor returns the first family whose config.json can describe a decoder with weights of a type.
func familyFor(c layers.DecoderConfig, dtype string) (*family, error) {
	if f := familyOfType(c, dtype); f != nil {
		return f, nil
	}
	for _, other := range slices.Sorted(maps.Keys(dtypes)) {
		if f := familyOfType(c, other); f != nil {
			return nil, fmt.Errorf("dtype: got %s, want %s, to which the scale of the model's embeddings is rounded",
				dtype, other)
		}
	}
	return nil, fmt.Errorf("got a decoder that is none of %s, want one that is", familyNames())
}

func familyOfType(c layers.DecoderConfig, dtype string) *family {
	for _, f := range families {
		if f == &gpt2 {
			continue
		}
		if again, err := f.decoder(f.settingsOf(c, dtype)); err == nil && sameModel(c, again) {
			return f
		}
	}
	return nil
}
