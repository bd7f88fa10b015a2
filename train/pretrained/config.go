package pretrained

import (
	"cmp"
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
	Torch       Format = "torch"       // the same names, weights (out, in) as in nn.Linear, with a model.py that runs it
)

// Formats returns all formats.
func Formats() []Format { return []Format{HuggingFace, Torch} }

const (
	configName  = "config.json"
	weightsName = "model.safetensors"
)

// folderConfig is a config.json.
type folderConfig struct {
	family  *family
	decoder layers.DecoderConfig
	gpt     layers.GPTConfig // of GPT-2, whose keys describe the decoder
	configExtra
}

// configExtra holds the keys that do not describe the model itself.
type configExtra struct {
	ModelType  string                `json:"model_type"`
	Format     Format                `json:"format"`       // "torch"; empty means Hugging Face's
	EOS        any                   `json:"eos_token_id"` // a number, a list of them or null
	Vocabulary *text.TokenizerConfig `json:"vocabulary"`   // the tokenizer; nil if there is none
	Dtype      string                `json:"dtype"`        // type of the weights, transformers 5's key
	OldDtype   string                `json:"torch_dtype"`
}

// ErrFamily is the error for a folder that holds a model of no family known here.
var ErrFamily = errors.New("family not supported")

// parseConfig parses a config.json. A key that transformers uses for the family and that is not supported here is an
// error; other unknown keys are ignored.
func parseConfig(contents []byte) (c folderConfig, err error) {
	if err := config.Foreign.Decode(contents, &c.configExtra); err != nil {
		return folderConfig{}, err
	}
	if c.Format != "" && c.Format != Torch {
		return folderConfig{}, fmt.Errorf("format: got %.60q, want %q or none", c.Format, Torch)
	}
	if c.Format == Torch {
		c.family = &gpt2
	} else if c.family, err = familyOf(c.ModelType); err != nil {
		return folderConfig{}, err
	}
	if err := c.family.check(contents); err != nil {
		return folderConfig{}, err
	}
	if c.family == &gpt2 {
		return c, c.parseGPT(contents)
	}
	s, err := c.family.settings(contents, cmp.Or(c.Dtype, c.OldDtype))
	if err != nil {
		return folderConfig{}, err
	}
	c.decoder, err = c.family.decoder(s)
	return c, err
}
