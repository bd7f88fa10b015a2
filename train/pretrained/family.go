package pretrained

import (
	"fmt"
	"strings"

	"attention/layers"
)

// family describes a family of models by data: the meaning of its config.json, and the names of its weights. A new
// family needs a file with such a value, a line in families and a folder of test values.
type family struct {
	name         string // model_type
	architecture string // the class in transformers
	classifier   string // its class for models that classify texts; "" if there is none

	keys    string   // keys of config.json that determine a model; each is a field of settings
	refuses string   // keys of transformers for this family alone that are not supported here, in refusals
	absent  settings // values of keys that a config.json leaves out

	block  layers.BlockConfig               // settings that no key has
	scaled bool                             // embeddings are multiplied by √E
	slides func(s settings, layer int) bool // whether a layer has the window, without layer_types; nil: none

	weights names
	gguf    ggufForm
}

// families lists all families.
var families = []*family{&gpt2, &llama, &mistral, &qwen2, &qwen3, &smollm3, &olmo2, &gemma2, &gemma3, &gptNeoX}

// familyNames returns the model_types of all families.
func familyNames() string {
	var all []string
	for _, f := range families {
		all = append(all, f.name)
	}
	return strings.Join(all, ", ")
}

// familyOf returns the family of a model_type.
func familyOf(modelType string) (*family, error) {
	for _, f := range families {
		if f.name == modelType {
			return f, nil
		}
	}
	return nil, fmt.Errorf("model_type: got %.60q: %w, want one of %s", modelType, ErrFamily, familyNames())
}
