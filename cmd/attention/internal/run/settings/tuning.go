package settings

import (
	"cmp"
	"fmt"
	"path/filepath"
	"time"

	"attention/internal/config"
	"attention/internal/folder"
	"attention/layers"
	"attention/train/text"
)

// Tuning is the part of the config that runs of attention finetune have and those of attention train do not. In such a
// run Text is the file of examples, and Batch is a batch of packed rows.
type Tuning struct {
	Base           TextSource         `json:"base"`               // the folder of the model to tune
	Valid          *TextSource        `json:"valid,omitempty"`    // the held-out examples; nil for none
	LoRA           *layers.LoRAConfig `json:"lora,omitempty"`     // nil if the whole model is trained
	Context        int                `json:"context"`            // tokens of a row
	Long           string             `json:"long"`               // text.PackConfig.Long
	Template       string             `json:"template,omitempty"` // a name or the source of one; "" for the base's
	Task           string             `json:"task,omitempty"`     // for an encoder; "" for a decoder
	TrainOnPrompts bool               `json:"train_on_prompts,omitempty"`
	Classes        []string           `json:"classes,omitempty"`  // of texts, if those are learned
	Thinking       bool               `json:"thinking,omitempty"` // whether the examples have thoughts, and templates request them
	Date           time.Time          `json:"date,omitzero"`      // the time at which the run began, for templates that write a date
}

// Validate returns an error for the first wrong field.
func (t *Tuning) Validate() error {
	if t == nil {
		return nil
	}
	err := cmp.Or(config.AtLeast(*t, 2, "Context"), config.OneOf(*t, "Long", t.Long, text.CutLong, text.SkipLong))
	if err == nil && t.LoRA != nil {
		err = config.In(*t, "LoRA", t.LoRA.Validate())
	}
	return err
}

// Rendering returns how conversations with a model are rendered: for a run as its examples were, with the date on which
// it began. Thinking is switched off, unless the model was tuned with thoughts.
func (t *Tuning) Rendering() text.TemplateConfig {
	if t == nil {
		return text.TemplateConfig{ThinkingOff: true}
	}
	return text.TemplateConfig{ThinkingOff: !t.Thinking, Now: t.Date}
}

// rowLength returns the tokens of a row of a batch.
func (c Config) rowLength() int {
	if c.Tuning != nil {
		return c.Tuning.Context
	}
	return c.Model.Context()
}

// SourceOf returns the size and checksum of a file, which may be a model's, or of the config and the weights in a model's
// folder.
func SourceOf(given string) (TextSource, error) {
	path, err := Locate(given)
	if err != nil {
		return TextSource{}, err
	}
	names := []string{path}
	if IsFolder(path) {
		found, err := folder.Names(path)
		if err != nil {
			return TextSource{}, err
		}
		names = []string{filepath.Join(path, ConfigFile)}
		for _, name := range found {
			if filepath.Ext(name) == ".safetensors" {
				names = append(names, filepath.Join(path, name))
			}
		}
	}
	size, sum, err := folder.Sum(names...)
	return TextSource{Name: given, Bytes: size, SHA256: sum}, err
}

// Same reads a source again, and returns an error if it has changed.
func (s TextSource) Same() error {
	now, err := SourceOf(s.Name)
	if err == nil && now.SHA256 != s.SHA256 {
		err = fmt.Errorf("%s: got files with SHA-256 %s, want %s, those that the run began with", s.Name,
			now.SHA256, s.SHA256)
	}
	return err
}
