package run

import (
	"encoding/json"
	"fmt"

	"attention/train/pretrained"
)

// ModelFolders returns a reader of the folders of GPTs, which may be those of runs.
func ModelFolders() pretrained.Reader { return pretrained.Reader{Config: pretrainedConfig} }

// pretrainedConfig returns the config.json of a model folder for that of a run, in which the GPT's config is the value
// of "model". It returns other contents unchanged, even if they are no JSON object: the reader refuses them.
func pretrainedConfig(contents []byte) ([]byte, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(contents, &members) != nil || members["model"] == nil {
		return contents, nil
	}
	t, err := parseTree(contents)
	if err != nil {
		return nil, err
	}
	model := treeAt(t, "model")
	if model["type"] != GPTModel {
		return nil, fmt.Errorf("model: %w", pretrained.ErrNotGPT)
	}
	delete(model, "type")
	model["model_type"] = "gpt2"
	if vocabulary, ok := t["vocabulary"]; ok {
		model["vocabulary"] = vocabulary
	}
	return json.Marshal(model)
}
