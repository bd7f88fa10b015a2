package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"attention/train"

	"github.com/moby/sys/atomicwriter"
)

// runFolder is where a run leaves its files. metrics.jsonl grows line by line; every
// other file is written beside and renamed. One process at a time holds the folder.
type runFolder struct {
	path        string
	checkpoints *train.Checkpoints
	metrics     *metrics // nil until the run begins
}

const (
	checkpointsName = "checkpoints"
	lockName        = "lock" // of the checkpoints

	// partPrefix begins the names of files that were not finished being written.
	partPrefix = ".tmp-"
)

// newRunFolder makes the folder, or the first new one of runs/1, runs/2, … A folder
// with files in it is refused: nothing of another run is overwritten.
func newRunFolder(path string, c train.CheckpointsConfig) (*runFolder, error) {
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
	f, err := holdFolder(path, c)
	if err != nil {
		return nil, outError(err)
	}
	if err := checkFree(path); err != nil { // another process may have come first
		return nil, errors.Join(err, f.checkpoints.Close())
	}
	return f, nil
}

// checkFree refuses a folder that holds more than a run leaves that was killed before
// it began: a lock and files that were not finished being written.
func checkFree(path string) error {
	files, err := os.ReadDir(path)
	checkpoints, _ := os.ReadDir(filepath.Join(path, checkpointsName))
	if err != nil {
		return outError(err)
	}
	for _, f := range append(files, checkpoints...) {
		if name := f.Name(); name != checkpointsName && name != lockName && !strings.HasPrefix(name, partPrefix) {
			return fmt.Errorf("--out: %s: got a folder that is not empty, want a new or empty one", path)
		}
	}
	return nil
}

// holdFolder locks a run folder and removes what was not finished being written.
func holdFolder(path string, c train.CheckpointsConfig) (*runFolder, error) {
	checkpoints, err := train.OpenCheckpoints(filepath.Join(path, checkpointsName), c)
	if err != nil {
		return nil, err
	}
	files, err := os.ReadDir(path)
	for _, f := range files {
		if strings.HasPrefix(f.Name(), partPrefix) {
			err = errors.Join(err, os.Remove(filepath.Join(path, f.Name())))
		}
	}
	if err != nil {
		return nil, errors.Join(err, checkpoints.Close())
	}
	return &runFolder{path: path, checkpoints: checkpoints}, nil
}

func outError(err error) error { return fmt.Errorf("--out: %w, want a folder to write to", err) }

// nextFolder makes the first folder called by a number that is not there yet.
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

// newest is the path of the newest checkpoint, "" if there is none.
func (f *runFolder) newest() string {
	steps, err := f.checkpoints.Steps()
	if err != nil || len(steps) == 0 {
		return ""
	}
	return f.checkpoints.Path(steps[len(steps)-1])
}

// write makes a file of the folder out of what fill writes.
func (f *runFolder) write(name string, fill func(io.Writer) error) error {
	path := filepath.Join(f.path, name)
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

// close ends metrics.jsonl, whose first error it returns, and lets go of the folder.
func (f *runFolder) close() error {
	var err error
	if f.metrics != nil {
		err = f.metrics.close()
	}
	return errors.Join(err, f.checkpoints.Close())
}
