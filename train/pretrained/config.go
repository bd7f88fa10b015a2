package pretrained

import (
	"errors"
	"fmt"

	"attention/internal/config"
	"attention/layers"
	"attention/train/text"
)

// Format is a kind of model folder.
type Format string

// The formats.
const (
	HuggingFace Format = "huggingface" // transformers' GPT-2, weights (in, out)
	Torch       Format = "torch"       // the same names, weights (out, in) as in nn.Linear, and a model.py to run it
)

// Formats returns all formats.
func Formats() []Format { return []Format{HuggingFace, Torch} }

const (
	configName  = "config.json"
	weightsName = "model.safetensors"
)

// folderConfig is config.json: a layers.GPTConfig and other keys.
type folderConfig struct {
	gpt layers.GPTConfig
	configExtra
}

// configExtra holds the keys that layers.GPTConfig does not have.
type configExtra struct {
	ModelType  string                `json:"model_type"`   // gpt2
	Format     Format                `json:"format"`       // torch; empty is Hugging Face's
	EOS        any                   `json:"eos_token_id"` // a number, a list of them or null
	Vocabulary *text.TokenizerConfig `json:"vocabulary"`   // the tokenizer; nil if there is none

	// Options of transformers' GPT-2 that must have these values: true, false, false.
	ScaleWeights   *bool `json:"scale_attn_weights"`
	ScaleByLayer   bool  `json:"scale_attn_by_inverse_layer_idx"`
	CrossAttention bool  `json:"add_cross_attention"`
}

// ErrNotGPT is the error for a folder that holds another model.
var ErrNotGPT = errors.New("the model is no GPT")

// parseConfig parses a config.json and refuses models that are not a GPT-2. Other programs
// write keys that it does not need: it skips them.
func parseConfig(contents []byte) (c folderConfig, err error) {
	if err := config.Foreign.Decode(contents, &c.configExtra); err != nil {
		return folderConfig{}, err
	}
	switch {
	case c.Format != "" && c.Format != Torch:
		return folderConfig{}, fmt.Errorf("format: got %.60q, want %q or none", c.Format, Torch)
	case c.Format == "" && c.ModelType != "gpt2":
		return folderConfig{}, fmt.Errorf(`model_type: got %.60q, want "gpt2": %w`, c.ModelType, ErrNotGPT)
	case c.ScaleWeights != nil && !*c.ScaleWeights:
		return folderConfig{}, errors.New("scale_attn_weights: got false, want true: " +
			"attention without a scale is not supported")
	case c.ScaleByLayer:
		return folderConfig{}, errors.New("scale_attn_by_inverse_layer_idx: got true, want false: " +
			"a scale for each layer is not supported")
	case c.CrossAttention:
		return folderConfig{}, errors.New("add_cross_attention: got true, want false: GPT-2 with an encoder is not supported")
	}
	c.gpt = layers.GPT2Defaults()
	if err := config.Foreign.Decode(contents, &c.gpt); err != nil {
		return folderConfig{}, err
	}
	return c, c.gpt.Validate()
}
