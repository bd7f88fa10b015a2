package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"attention/layers"
	"attention/train"
)

// runConfig is config.json: all that is needed to run the model or the training
// again, or to go on with it.
type runConfig struct {
	Text        textSource                 `json:"text"`
	Vocabulary  *train.Vocabulary          `json:"vocabulary"`
	Model       layers.LanguageModelConfig `json:"model"`
	Init        *textSource                `json:"init,omitempty"` // the weights that the run began with; nil for new ones
	Dtype       string                     `json:"dtype"`
	Batch       int                        `json:"batch"`
	Order       string                     `json:"order"`    // of the windows to train on
	Training    train.Config               `json:"training"` // its seed is that of the whole run
	Checkpoints train.CheckpointsConfig    `json:"checkpoints"`
	NGram       train.NGram                `json:"ngram"`
}

const configName = "config.json"

// readConfig reads the config of a run folder.
func readConfig(folder string) (c runConfig, err error) {
	path := filepath.Join(folder, configName)
	text, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("--resume: %w, want the folder of a run", err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err = dec.Decode(&c); err == nil {
		err = c.validate()
	}
	if err != nil {
		return c, fmt.Errorf("--resume: %s: %w", path, err)
	}
	return c, nil
}

// validate names what a hand may have spoilt.
func (c runConfig) validate() error {
	if c.Vocabulary == nil {
		return errors.New("vocabulary: got none, want one")
	}
	if _, err := dtypeOf(c.Dtype); err != nil {
		return err
	}
	if err := validOrder(c.Order); err != nil {
		return err
	}
	return errors.Join(c.Model.Validate(), c.Training.Validate(), c.Checkpoints.Validate())
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
		"text": map[string]any{"sha256": c.Text.SHA256}, "model": c.Model, "dtype": c.Dtype, "batch": c.Batch, "order": c.Order,
	})
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	about := map[string]string{}
	flatten(about, "", tree)
	return about, nil
}

// flatten writes the leaves of a tree of JSON objects under their paths.
func flatten(leaves map[string]string, path string, tree map[string]any) {
	for key, value := range tree {
		if branch, ok := value.(map[string]any); ok {
			flatten(leaves, path+key+".", branch)
		} else {
			leaves[path+key] = fmt.Sprint(value)
		}
	}
}
