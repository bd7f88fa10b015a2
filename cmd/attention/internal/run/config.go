package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"attention/cmd/attention/internal/flags"
	"attention/internal/config"
	"attention/train"
	"attention/train/text"
)

// Config is config.json: all that is needed to use the model, and to repeat or resume the training.
type Config struct {
	Text        TextSource              `json:"text"`
	Vocabulary  text.TokenizerConfig    `json:"vocabulary"`
	Model       ModelConfig             `json:"model"`
	Init        *TextSource             `json:"init,omitempty"` // the initial weights; nil for new ones
	Dtype       string                  `json:"dtype"`
	Batch       int                     `json:"batch"`
	Order       string                  `json:"order"`    // of the windows to train on
	Training    train.Config            `json:"training"` // its seed is that of the whole run
	Checkpoints train.CheckpointsConfig `json:"checkpoints"`
	EvalBatches int                     `json:"eval_batches"` // random ones of each evaluation; 0 means all of the validation split
	Sample      SampleConfig            `json:"sample"`
	NGram       *text.NGram             `json:"ngram,omitempty"` // nil for a large vocabulary
}

// SampleConfig describes the text that a run ends with.
type SampleConfig struct {
	Tokens int    `json:"tokens"`           // to draw; 0 means no sample
	Prompt string `json:"prompt,omitempty"` // to continue; empty means the beginning of the validation split
}

// ReadConfig reads the config of a run folder.
func ReadConfig(dir string) (c Config, err error) {
	path := filepath.Join(dir, ConfigFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("--resume: %w, want the folder of a run", err)
	}
	if isExport(text) {
		return c, fmt.Errorf("--resume: %s: got an exported model, want the folder of a run; to begin a run with its weights: --init %[1]s", dir)
	}
	if err = config.Decode(text, &c); err == nil {
		err = c.Validate()
	}
	if err != nil {
		return c, fmt.Errorf("--resume: %s: %w", path, err)
	}
	return c, nil
}

// isExport reports whether a config.json is that of a model exported for other programs.
func isExport(text []byte) bool {
	var c struct {
		ModelType string           `json:"model_type"` // in Hugging Face's form
		Format    string           `json:"format"`     // in PyTorch's
		Training  *json.RawMessage `json:"training"`
	}
	return json.Unmarshal(text, &c) == nil && c.Training == nil && c.ModelType+c.Format != ""
}

// Validate checks the config, which may have been edited by hand.
func (c Config) Validate() error {
	if c.EvalBatches < 0 {
		return fmt.Errorf("eval_batches: got %d, want at least 0", c.EvalBatches)
	}
	if c.Sample.Tokens < 0 {
		return fmt.Errorf("sample.tokens: got %d, want at least 0", c.Sample.Tokens)
	}
	if _, err := flags.Dtype(c.Dtype); err != nil {
		return err
	}
	if err := CheckOrder(c.Order); err != nil {
		return err
	}
	return errors.Join(c.Vocabulary.Validate(), c.Model.Validate(), c.Training.Validate(), c.Checkpoints.Validate())
}

// Write writes config.json to the folder.
func (c Config) Write(f *Folder) error {
	return f.Write(ConfigFile, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(c)
	})
}

// About returns the values that a checkpoint must share with the run that resumes from it, by their paths in
// config.json.
func (c Config) About() (map[string]string, error) {
	text, err := json.Marshal(map[string]any{
		"text": map[string]any{"sha256": c.Text.SHA256}, "vocabulary": c.Vocabulary, "model": c.Model,
		"dtype": c.Dtype, "batch": c.Batch, "order": c.Order,
		"training": map[string]any{"seed": c.Training.Seed, "clip_norm": c.Training.ClipNorm,
			"accumulate": c.Training.Accumulate, "schedule": map[string]any{"cosine": c.Training.Schedule.Schedule}},
	})
	if err != nil {
		return nil, err
	}
	leaves, err := Leaves(text)
	about := map[string]string{}
	for path, value := range leaves {
		about[path] = fmt.Sprint(value)
	}
	return about, err
}
