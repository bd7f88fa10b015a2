package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"attention/internal/jsonkeys"
	"attention/layers"
	"attention/train/text"
)

// Format is how a folder holds a model.
type Format string

// The formats.
const (
	HuggingFace Format = "huggingface" // GPT-2 as transformers have it, weights (in, out)
	Torch       Format = "torch"       // the same names, weights (out, in) as nn.Linear has them, and a model.py to run it
)

// Formats are all formats.
func Formats() []Format { return []Format{HuggingFace, Torch} }

const (
	configName  = "config.json"
	weightsName = "model.safetensors"
)

// config is config.json: layers.GPTConfig and what stands beside it there.
type config struct {
	gpt layers.GPTConfig
	configExtra
}

// configExtra are the keys that layers.GPTConfig does not have.
type configExtra struct {
	ModelType  string                `json:"model_type"`   // gpt2
	Format     Format                `json:"format"`       // torch; empty is Hugging Face's
	EOS        any                   `json:"eos_token_id"` // a number, a list of them or null
	Vocabulary *text.TokenizerConfig `json:"vocabulary"`   // the tokenizer; nil if nothing is said
	Model      json.RawMessage       `json:"model"`        // of a run of attention train: what else is the whole file

	// What GPT-2 has in transformers and not here, unless it is as here.
	ScaleWeights   *bool `json:"scale_attn_weights"`
	ScaleByLayer   bool  `json:"scale_attn_by_inverse_layer_idx"`
	CrossAttention bool  `json:"add_cross_attention"`
}

// maxConfig is the most bytes of config.json that are read, of which a vocabulary of
// characters may take some.
const maxConfig = 1 << 23

func readConfig(dir string) (config, error) {
	text, err := readSmall(filepath.Join(dir, configName), maxConfig)
	if err != nil {
		return config{}, err
	}
	c, err := parseConfig(text)
	if err != nil {
		return config{}, fmt.Errorf("%s: %w", configName, err)
	}
	return c, nil
}

// readSmall reads a file of at most so many bytes.
func readSmall(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s: more than %d bytes, want a smaller file", filepath.Base(path), most)
	}
	return text, err
}

// ErrNoGPT is the error for a folder that holds another model.
var ErrNoGPT = errors.New("the model is no GPT")

// parseConfig reads the JSON of a config.json and refuses what is no GPT-2.
func parseConfig(text []byte) (c config, err error) {
	if err := json.Unmarshal(text, &c.configExtra); err != nil {
		return config{}, err
	}
	if err := jsonkeys.Unique(text); err != nil {
		return config{}, err
	}
	run := c.Model != nil
	if run {
		text = c.Model
		var width struct {
			NEmbd *int `json:"n_embd"`
		}
		if err := json.Unmarshal(text, &width); err != nil || width.NEmbd == nil {
			return config{}, fmt.Errorf("model: %w", ErrNoGPT)
		}
	}
	switch {
	case c.Format != "" && c.Format != Torch:
		return config{}, fmt.Errorf("format: got %.60q, want %q or none", c.Format, Torch)
	case c.Format == "" && c.ModelType != "gpt2" && !run:
		return config{}, fmt.Errorf(`model_type: got %.60q, want "gpt2": %w`, c.ModelType, ErrNoGPT)
	case c.ScaleWeights != nil && !*c.ScaleWeights:
		return config{}, errors.New("scale_attn_weights: got false, want true: attention without a scale is not supported")
	case c.ScaleByLayer:
		return config{}, errors.New("scale_attn_by_inverse_layer_idx: got true, want false: a scale for each layer is not supported")
	case c.CrossAttention:
		return config{}, errors.New("add_cross_attention: got true, want false: GPT-2 with an encoder is not supported")
	}
	if err := json.Unmarshal(text, &c.gpt); err != nil {
		return config{}, err
	}
	return c, c.gpt.Validate()
}

// tokenizer is the one that config.json names. If it names none and the vocabulary is
// as large as GPT-2's, or is that filled up to a multiple of 64 or 128, it is GPT-2's,
// unless the folder holds another vocabulary.
func (c config) tokenizer(dir string) (text.Tokenizer, error) {
	if c.Vocabulary == nil {
		const filledUp = 50304
		if c.gpt.Vocab <= text.GPT2EndOfText || c.gpt.Vocab > filledUp {
			return nil, nil
		}
		t := text.NewGPT2Tokenizer()
		if !isGPT2(dir, t) {
			return nil, nil
		}
		return t, nil
	}
	t, err := c.Vocabulary.New()
	if err != nil {
		return nil, fmt.Errorf("%s: vocabulary: %w", configName, err)
	}
	if t.Len() > c.gpt.Vocab {
		return nil, fmt.Errorf("%s: vocabulary: got %d tokens, want at most vocab_size %d", configName, t.Len(), c.gpt.Vocab)
	}
	return t, nil
}

// endOfText is the id that ends a text; −1 if there is none. One of a list is as good
// as another.
func (c config) endOfText(t text.Tokenizer) int {
	id := c.EOS
	if list, ok := id.([]any); ok && len(list) > 0 {
		id = list[0]
	}
	if n, ok := id.(float64); ok && n >= 0 && n < float64(c.gpt.Vocab) && n == float64(int(n)) {
		return int(n)
	}
	if t != nil && t.Config().Name == text.GPT2 {
		return text.GPT2EndOfText
	}
	return -1
}
