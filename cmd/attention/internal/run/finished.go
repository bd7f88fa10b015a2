package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"attention/internal/safetensors"
	"attention/train/pretrained"
)

// stepsKey is the key of the number of steps in the metadata of a run's model.
const stepsKey = "steps"

// Unfinished returns the paths of the checkpoints, ascending, of a run that has no model or has taken steps since it
// wrote its model; nil for others.
func Unfinished(dir string) (checkpoints []string) {
	files, _ := os.ReadDir(filepath.Join(dir, CheckpointsFolder)) // sorted
	for _, f := range files {
		if _, ok := stepsOf(f.Name()); ok {
			checkpoints = append(checkpoints, filepath.Join(dir, CheckpointsFolder, f.Name()))
		}
	}
	model, err := safetensors.Open(filepath.Join(dir, ModelFile))
	if errors.Is(err, os.ErrNotExist) || len(checkpoints) == 0 {
		return checkpoints
	}
	if err != nil { // which reading the model reports
		return nil
	}
	defer model.Close()
	newest, _ := stepsOf(checkpoints[len(checkpoints)-1])
	if steps, err := strconv.Atoi(model.Metadata()[stepsKey]); err != nil || newest <= steps {
		return nil
	}
	return checkpoints
}

// stepsOf returns the number of steps in a checkpoint's name.
func stepsOf(path string) (steps int, ok bool) {
	_, err := fmt.Sscanf(filepath.Base(path), "step-%d", &steps)
	return steps, err == nil
}

// CheckFinished returns the error err of reading a GPT's folder, or a plainer one for what is no folder, and an error
// for a run that is not finished.
func CheckFinished(dir string, err error) error {
	if errors.Is(err, pretrained.ErrNotGPT) {
		return err
	}
	if err := CheckFolder(dir); err != nil {
		return err
	}
	checkpoints := Unfinished(dir)
	if len(checkpoints) == 0 {
		return err
	}
	steps, _ := stepsOf(checkpoints[len(checkpoints)-1])
	return fmt.Errorf("%s: got a run that is not finished, want one that is; to end it where it stands: %s --steps %d",
		dir, ResumeCommand(dir), steps)
}

// CheckFolder returns an error for what is no folder.
func CheckFolder(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("%w, want the folder of a model", err)
	case !info.IsDir():
		return fmt.Errorf("%s: got a file, want the folder of a model, with %s and %s", path, ConfigFile, ModelFile)
	}
	return nil
}

// ResumeCommand returns the shell command that resumes a run.
func ResumeCommand(path string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+=:,@%/"
	if strings.Trim(path, plain) != "" {
		path = "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return "attention train --resume " + path
}
