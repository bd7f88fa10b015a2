package run

import (
	"encoding/json"
	"fmt"

	"attention/internal/config"
	"attention/train/pretrained"
)

// ModelFolders returns a reader of the folders of GPTs, which may be those of runs.
func ModelFolders() pretrained.Reader { return pretrained.Reader{Config: pretrainedConfig} }

// pretrainedConfig returns the config.json of a model folder for that of a run, in
// which the GPT's config is the value of "model". Others it returns as they are.
func pretrainedConfig(contents []byte) ([]byte, error) {
	var run struct {
		Model      json.RawMessage `json:"model"`
		Vocabulary json.RawMessage `json:"vocabulary"`
	}
	if json.Unmarshal(contents, &run) != nil || run.Model == nil {
		return contents, nil
	}
	if err := config.Foreign.Decode(contents, &run); err != nil {
		return nil, err
	}
	var gpt struct {
		Width *int `json:"n_embd"`
	}
	if err := json.Unmarshal(run.Model, &gpt); err != nil || gpt.Width == nil {
		return nil, fmt.Errorf("model: %w", pretrained.ErrNotGPT)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(run.Model, &fields); err != nil {
		return nil, err
	}
	fields["model_type"] = json.RawMessage(`"gpt2"`)
	if run.Vocabulary != nil {
		fields["vocabulary"] = run.Vocabulary
	}
	return json.Marshal(fields)
}
