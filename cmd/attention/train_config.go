package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"attention/train"
	"attention/train/text"
)

// runConfig is config.json: all that is needed to run the model or the training
// again, or to go on with it.
type runConfig struct {
	Text        textSource              `json:"text"`
	Vocabulary  text.TokenizerConfig    `json:"vocabulary"`
	Model       modelConfig             `json:"model"`
	Init        *textSource             `json:"init,omitempty"` // the weights that the run began with; nil for new ones
	Dtype       string                  `json:"dtype"`
	Batch       int                     `json:"batch"`
	Order       string                  `json:"order"`    // of the windows to train on
	Training    train.Config            `json:"training"` // its seed is that of the whole run
	Checkpoints train.CheckpointsConfig `json:"checkpoints"`
	EvalBatches int                     `json:"eval_batches"` // random ones of each evaluation; 0 means all of the validation split
	Sample      sampleConfig            `json:"sample"`
	NGram       *text.NGram             `json:"ngram,omitempty"` // nil for tokens that counting says little of
}

const configName = "config.json"

// sampleConfig says what text a run ends with.
type sampleConfig struct {
	Tokens int    `json:"tokens"`           // to draw; 0 means no sample
	Prompt string `json:"prompt,omitempty"` // to go on with; empty means the beginning of the validation split
}

// readConfig reads the config of a run folder.
func readConfig(dir string) (c runConfig, err error) {
	path := filepath.Join(dir, configName)
	text, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("--resume: %w, want the folder of a run", err)
	}
	if isExport(text) {
		return c, fmt.Errorf("--resume: %s: got an exported model, want the folder of a run; to begin a run with its weights: --init %[1]s", dir)
	}
	if err = strictJSON(text, &c); err == nil {
		err = c.validate()
	}
	if err != nil {
		return c, fmt.Errorf("--resume: %s: %w", path, err)
	}
	return c, nil
}

// isExport says whether a config.json is that of a model in a form for other programs.
func isExport(text []byte) bool {
	var c struct {
		ModelType string           `json:"model_type"` // in Hugging Face's form
		Format    string           `json:"format"`     // in PyTorch's
		Training  *json.RawMessage `json:"training"`
	}
	return json.Unmarshal(text, &c) == nil && c.Training == nil && c.ModelType+c.Format != ""
}

// validate names what a hand may have spoilt.
func (c runConfig) validate() error {
	if c.EvalBatches < 0 {
		return fmt.Errorf("eval_batches: got %d, want at least 0", c.EvalBatches)
	}
	if c.Sample.Tokens < 0 {
		return fmt.Errorf("sample.tokens: got %d, want at least 0", c.Sample.Tokens)
	}
	if _, err := dtypeOf(c.Dtype); err != nil {
		return err
	}
	if err := validOrder(c.Order); err != nil {
		return err
	}
	return errors.Join(c.Vocabulary.Validate(), c.Model.validate(), c.Training.Validate(), c.Checkpoints.Validate())
}

// write makes config.json in the folder.
func (c runConfig) write(f *runFolder) error {
	return f.write(configName, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(c)
	})
}

// about is what a checkpoint must have been made with to be gone on from, each value
// by its path in config.json.
func (c runConfig) about() (map[string]string, error) {
	text, err := json.Marshal(map[string]any{
		"text": map[string]any{"sha256": c.Text.SHA256}, "vocabulary": c.Vocabulary, "model": c.Model,
		"dtype": c.Dtype, "batch": c.Batch, "order": c.Order,
		"training": map[string]any{"seed": c.Training.Seed, "clip_norm": c.Training.ClipNorm,
			"accumulate": c.Training.Accumulate, "schedule": c.Training.Schedule},
	})
	if err != nil {
		return nil, err
	}
	leaves, err := jsonLeaves(text)
	about := map[string]string{}
	for path, value := range leaves {
		about[path] = fmt.Sprint(value)
	}
	return about, err
}

// flatten writes the leaves of a tree of JSON objects under their paths.
func flatten(leaves map[string]any, path string, tree map[string]any) {
	for key, value := range tree {
		if branch, ok := value.(map[string]any); ok {
			flatten(leaves, path+key+".", branch)
		} else {
			leaves[path+key] = value
		}
	}
}
