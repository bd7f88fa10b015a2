package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"attention/layers"
	"attention/train"
	"attention/train/folder"
)

// errNoRun is the error for a folder that is not of attention train.
var errNoRun = errors.New("not a run folder")

// openRun reads the model of a run, with the weights of the newest of the checkpoints that
// is not damaged or, if there are none, those that the run ended with.
func openRun(dir string, checkpoints []string) (*generative, error) {
	path := filepath.Join(dir, configName)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := newRunModel(text)
	if errors.Is(err, errNoRun) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(checkpoints) == 0 {
		_, err = train.ReadParams(filepath.Join(dir, modelName), m.params)
		return m, err
	}
	for _, path := range slices.Backward(checkpoints) {
		m.note = fmt.Sprintf("the run is not finished: the weights are those of %s", path)
		if _, err = train.ReadCheckpoint(path, m.params); !errors.Is(err, train.ErrDamaged) {
			break
		}
	}
	return m, err
}

// newRunModel makes the model that a run's config.json describes, without its weights.
func newRunModel(text []byte) (*generative, error) {
	var c struct {
		Vocabulary *train.TokenizerConfig `json:"vocabulary"`
		Model      *modelConfig           `json:"model"`
		Dtype      string                 `json:"dtype"`
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	if c.Vocabulary == nil || c.Model == nil {
		return nil, errNoRun
	}
	if err := folder.UniqueKeys(text); err != nil {
		return nil, err
	}
	dt, err := dtypeOf(c.Dtype)
	if err != nil {
		return nil, err
	}
	m := &generative{params: layers.NewBlankParams(dt), endOfText: -1}
	if m.tokenizer, err = c.Vocabulary.New(); err != nil {
		return nil, err
	}
	if c.Vocabulary.Name == train.GPT2 {
		m.endOfText = train.GPT2EndOfText
	}
	m.model, err = c.Model.new(m.params.Scope(""))
	return m, err
}

// unfinished are the paths of the checkpoints, ascending, of a run that has no model yet.
func unfinished(dir string) (checkpoints []string) {
	if _, err := os.Stat(filepath.Join(dir, modelName)); err == nil {
		return nil
	}
	files, _ := os.ReadDir(filepath.Join(dir, checkpointsName)) // sorted
	for _, f := range files {
		if strings.HasPrefix(f.Name(), "step-") {
			checkpoints = append(checkpoints, filepath.Join(dir, checkpointsName, f.Name()))
		}
	}
	return checkpoints
}

// unreadable is the error of reading a GPT's folder, in other words for what is no folder
// and for a run that has no model yet.
func unreadable(dir string, err error) error {
	if errors.Is(err, folder.ErrNoGPT) {
		return err
	}
	if err := checkFolder(dir); err != nil {
		return err
	}
	checkpoints := unfinished(dir)
	if len(checkpoints) == 0 {
		return err
	}
	var steps int
	if _, noStep := fmt.Sscanf(filepath.Base(checkpoints[len(checkpoints)-1]), "step-%d", &steps); noStep != nil {
		return err
	}
	return fmt.Errorf("%s: got a run that is not finished, want one with %s; to end it where it stands: %s --steps %d",
		dir, modelName, resumeCommand(dir), steps)
}
