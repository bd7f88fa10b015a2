package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"attention/cmd/attention/internal/program"
	"attention/internal/safetensors"
	"attention/train"
	"attention/train/pretrained"
)

// The keys of the metadata of a run's model.
const (
	stepsKey    = "steps"  // taken by the run
	bestKey     = "best"   // step of the parameters with --best; missing if they are the last ones
	aboutPrefix = "about." // before the keys of Config.About
)

// Unfinished returns the numbers of steps of the checkpoints, ascending, of a run that has no model or has taken steps
// since it wrote its model; nil for others.
func Unfinished(dir string) []int {
	all, err := train.CheckpointSteps(filepath.Join(dir, CheckpointsFolder))
	if err != nil || len(all) == 0 { // not a run, or one that was killed early
		return nil
	}
	model, err := safetensors.Open(filepath.Join(dir, ModelFile))
	if errors.Is(err, os.ErrNotExist) {
		return all
	}
	if err != nil { // reading the model reports it
		return nil
	}
	defer model.Close()
	if steps, err := strconv.Atoi(model.Metadata()[stepsKey]); err != nil || all[len(all)-1] <= steps {
		return nil
	}
	return all
}

// CheckFinished returns the error err of reading a GPT's folder, a plainer one if the path is no folder, and an error
// for a run that is not finished.
func CheckFinished(dir string, err error) error {
	if errors.Is(err, pretrained.ErrNotGPT) {
		return err
	}
	if err := CheckFolder(dir); err != nil {
		return err
	}
	steps := Unfinished(dir)
	if len(steps) == 0 {
		return err
	}
	return fmt.Errorf("%s: got a run that is not finished, want one that is; to end it where it stands: %s --steps %d",
		dir, ResumeCommand(dir), steps[len(steps)-1])
}

// CheckFolder returns an error for a path that is no folder.
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
func ResumeCommand(path string) string { return program.Command("train", "--resume", path) }
