package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"attention/internal/jsonkeys"
	"attention/internal/safetensors"
	"attention/layers"
	"attention/train"
	"attention/train/pretrained"
	"attention/train/text"
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
func newRunModel(data []byte) (*generative, error) {
	var c struct {
		Vocabulary *text.TokenizerConfig `json:"vocabulary"`
		Model      *modelConfig          `json:"model"`
		Dtype      string                `json:"dtype"`
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, err
	}
	if c.Vocabulary == nil || c.Model == nil {
		return nil, errNoRun
	}
	if err := jsonkeys.Unique(data); err != nil {
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
	if c.Vocabulary.Name == text.GPT2 {
		m.endOfText = text.GPT2EndOfText
	}
	m.model, err = c.Model.new(m.params.Scope(""))
	return m, err
}

// stepsKey is where the metadata of a run's model say how many steps it has taken.
const stepsKey = "steps"

// unfinished are the paths of the checkpoints, ascending, of a run that has no model yet,
// or has gone on since.
func unfinished(dir string) (checkpoints []string) {
	files, _ := os.ReadDir(filepath.Join(dir, checkpointsName)) // sorted
	for _, f := range files {
		if _, ok := stepsOf(f.Name()); ok {
			checkpoints = append(checkpoints, filepath.Join(dir, checkpointsName, f.Name()))
		}
	}
	model, err := safetensors.Open(filepath.Join(dir, modelName))
	if errors.Is(err, os.ErrNotExist) || len(checkpoints) == 0 {
		return checkpoints
	}
	if err != nil { // as whoever reads it will say
		return nil
	}
	defer model.Close()
	newest, _ := stepsOf(checkpoints[len(checkpoints)-1])
	if steps, err := strconv.Atoi(model.Metadata()[stepsKey]); err != nil || newest <= steps {
		return nil
	}
	return checkpoints
}

// stepsOf is the number of steps in a checkpoint's name.
func stepsOf(path string) (steps int, ok bool) {
	_, err := fmt.Sscanf(filepath.Base(path), "step-%d", &steps)
	return steps, err == nil
}

// checkRead is the error of reading a GPT's folder, in other words for what is no folder,
// and an error for a run that is not finished.
func checkRead(dir string, err error) error {
	if errors.Is(err, pretrained.ErrNotGPT) {
		return err
	}
	if err := checkFolder(dir); err != nil {
		return err
	}
	checkpoints := unfinished(dir)
	if len(checkpoints) == 0 {
		return err
	}
	steps, _ := stepsOf(checkpoints[len(checkpoints)-1])
	return fmt.Errorf("%s: got a run that is not finished, want one that is; to end it where it stands: %s --steps %d",
		dir, resumeCommand(dir), steps)
}
