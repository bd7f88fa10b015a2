package run

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"attention/internal/folder"
	"attention/layers"
	"attention/train"

	"github.com/moby/sys/atomicwriter"
)

// Folder is the folder of a run. metrics.jsonl grows line by line; every other file is written under another name
// and renamed. One process at a time holds the folder.
type Folder struct {
	Path        string
	Checkpoints *train.Checkpoints
	Metrics     *Metrics // nil until training begins
}

// The files of a run folder.
const (
	ConfigFile        = "config.json"
	ModelFile         = "model.safetensors"
	MetricsFile       = "metrics.jsonl"
	CheckpointsFolder = "checkpoints"
)

// NewFolder makes a run folder at path, or the first free one of runs/1, runs/2, … if path is empty. It never
// overwrites: a folder with files is an error.
func NewFolder(path string, c train.CheckpointsConfig) (*Folder, error) {
	var err error
	if path == "" {
		path, err = nextFolder("runs")
	} else {
		err = os.MkdirAll(path, 0o755)
	}
	if err != nil {
		return nil, outError(err)
	}
	if err := checkFree(path); err != nil {
		return nil, err
	}
	f, err := OpenFolder(path, c)
	if err != nil {
		return nil, outError(err)
	}
	if err := checkFree(path); err != nil { // another process may have been first
		return nil, errors.Join(err, f.Checkpoints.Close())
	}
	return f, nil
}

// checkFree returns an error for a folder that holds more than the remains of a run killed before it began.
func checkFree(path string) error {
	files, err := os.ReadDir(path)
	checkpoints, _ := os.ReadDir(filepath.Join(path, CheckpointsFolder))
	if err != nil {
		return outError(err)
	}
	for _, f := range append(files, checkpoints...) {
		if f.Name() != CheckpointsFolder && !folder.IsLeftover(f.Name()) {
			return fmt.Errorf("--out: %s: got a folder that is not empty, want a new or empty one", path)
		}
	}
	return nil
}

// OpenFolder locks a run folder and removes incomplete files.
func OpenFolder(path string, c train.CheckpointsConfig) (*Folder, error) {
	checkpoints, err := train.OpenCheckpoints(filepath.Join(path, CheckpointsFolder), c)
	if err != nil {
		return nil, err
	}
	if err := folder.RemoveIncomplete(path); err != nil {
		return nil, errors.Join(err, checkpoints.Close())
	}
	return &Folder{Path: path, Checkpoints: checkpoints}, nil
}

func outError(err error) error { return fmt.Errorf("--out: %w, want a folder to write to", err) }

// nextFolder makes the folder of the first free number.
func nextFolder(parent string) (string, error) {
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	for i := 1; ; i++ {
		path := filepath.Join(parent, strconv.Itoa(i))
		if err := os.Mkdir(path, 0o755); !errors.Is(err, os.ErrExist) {
			return path, err
		}
	}
}

// Newest returns the path of the newest checkpoint, or "" if there is none.
func (f *Folder) Newest() string {
	steps, err := f.Checkpoints.Steps()
	if err != nil || len(steps) == 0 {
		return ""
	}
	return f.Checkpoints.Path(steps[len(steps)-1])
}

// Write makes a file of the folder with the content that fill writes.
func (f *Folder) Write(name string, fill func(io.Writer) error) error {
	path := filepath.Join(f.Path, name)
	var content bytes.Buffer
	err := fill(&content)
	if err == nil {
		err = atomicwriter.WriteFile(path, content.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Errorf("train: %s: %w", path, err)
	}
	return nil
}

// WriteModel writes the parameters of a run that has taken n steps.
func (f *Folder) WriteModel(p *layers.Params, n int) error {
	return train.WriteParams(filepath.Join(f.Path, ModelFile), p, map[string]string{stepsKey: strconv.Itoa(n)})
}

// Close closes metrics.jsonl and unlocks the folder. It returns the first error of metrics.jsonl.
func (f *Folder) Close() error {
	var err error
	if f.Metrics != nil {
		err = f.Metrics.Close()
	}
	return errors.Join(err, f.Checkpoints.Close())
}
