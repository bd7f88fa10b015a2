// Package models opens models with their tokenizers and weights: those of runs, and those of other programs.
package models

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/settings"
	"attention/internal/about"
	"attention/internal/config"
	"attention/internal/folder"
	"attention/internal/gguf"
	"attention/internal/safetensors"
	"attention/train/checkpoint"
	"attention/train/pretrained"
)

// Inspection describes a folder by its config.json, its model and its checkpoints, or a GGUF file.
type Inspection struct {
	Dir         string          // or the path of the file
	Kind        string          // LayerModel, GPTModel or DatesModel; "" for a folder that is not a run's
	Config      settings.Config // config of a run, valid as far as it concerns the model
	Planned     int             // steps of the whole run
	Steps       int             // steps of the run up to its model; 0 if there is no model or it does not say
	Checkpoints []int           // steps of the run's checkpoints, ascending

	alias      string             // the flag that was given in place of the path; "" if the path was given
	base       string             // present folder of the base of a tuned run; "": it has not moved
	added      addedAdapter       // adapter added to the model; the zero value for none
	contents   []byte             // of config.json
	foreign    *pretrained.Folder // folder of a model that is not a run's; nil until it is needed
	metadata   map[string]string  // file of a run's model; nil if there is none
	sealed     bool               // whether the model has a checksum
	unfinished bool
}

// Inspect reads a folder or a GGUF file, which may be in Ollama's store, without its weights. The error for a folder
// that does not exist, or that has no config.json, wraps fs.ErrNotExist.
func Inspect(given string) (*Inspection, error) {
	dir, err := settings.Locate(given)
	if err != nil {
		return nil, err
	}
	if err := settings.CheckFolder(dir); err != nil {
		return nil, err
	}
	if gguf.Is(dir) {
		in := &Inspection{Dir: dir}
		if dir != given {
			in.alias = given
		}
		in.foreign, err = pretrained.Open(dir)
		return in, err
	}
	path := filepath.Join(dir, settings.ConfigFile)
	contents, err := folder.ReadFile(path, folder.MaxConfig)
	if errors.Is(err, os.ErrNotExist) {
		if pretrained.IsAdapter(dir) {
			return nil, errAdapter(dir)
		}
		return nil, fmt.Errorf("%w, want the folder of a model, with %s and %s", err, settings.ConfigFile, settings.ModelFile)
	}
	if err != nil {
		return nil, err
	}
	in := &Inspection{Dir: dir, contents: contents}
	if err := in.readConfig(); err != nil {
		return nil, settings.InPart(path, err)
	}
	if in.IsRun() {
		in.readSteps()
	}
	return in, nil
}

// readConfig reads config.json, which belongs to a run if it has a model or a format number.
func (in *Inspection) readConfig() error {
	var head struct {
		Format any `json:"format"`
		Model  *struct {
			Type string `json:"type"`
		} `json:"model"`
		Training struct {
			Steps int `json:"steps"`
		} `json:"training"`
	}
	if err := config.Foreign.Decode(in.contents, &head); err != nil {
		return err
	}
	if _, isNumber := head.Format.(float64); head.Model == nil && !isNumber {
		return nil
	}
	if err := settings.CheckFormat(head.Format); err != nil {
		return err
	}
	in.Planned = head.Training.Steps
	if err := config.Decode(in.contents, &in.Config); err != nil {
		return err
	}
	in.Kind = in.Config.Model.Type()
	return in.Config.ValidateModel()
}

// readSteps reads the steps that the checkpoints and the model are after. Reading the weights reports files that
// cannot be read.
func (in *Inspection) readSteps() {
	in.Checkpoints, _ = checkpoint.Steps(filepath.Join(in.Dir, settings.CheckpointsFolder))
	model, err := safetensors.Open(filepath.Join(in.Dir, settings.ModelFile))
	if errors.Is(err, os.ErrNotExist) {
		in.unfinished = len(in.Checkpoints) > 0
		return
	}
	if err != nil {
		return
	}
	defer model.Close()
	in.metadata, in.sealed = model.Metadata(), model.Sealed()
	var known bool
	in.Steps, known = about.Steps(in.metadata)
	in.unfinished = known && len(in.Checkpoints) > 0 && in.newest() > in.Steps
}

// configPath returns the path of config.json.
func (in *Inspection) configPath() string { return filepath.Join(in.Dir, settings.ConfigFile) }

// newest returns the steps of the newest checkpoint.
func (in *Inspection) newest() int { return in.Checkpoints[len(in.Checkpoints)-1] }

// IsRun reports whether the folder is a run's.
func (in *Inspection) IsRun() bool { return in.Kind != "" }

// Unfinished reports whether the run has a checkpoint and no model, or has taken steps since it wrote its model.
func (in *Inspection) Unfinished() bool { return in.unfinished }

// Values returns all values of config.json.
func (in *Inspection) Values() (config.Values, error) {
	t, err := config.ParseTree(in.contents)
	return config.Leaves(t, ""), err
}

// ErrNoRun returns the error about a folder of a model that is not a run's.
func (in *Inspection) ErrNoRun() error {
	return fmt.Errorf("%s: got an exported model, want the folder of a run", in.Dir)
}

// config returns the config of a run of attention train.
func (in *Inspection) config() (settings.Config, error) {
	if in.Kind == settings.DatesModel || in.Kind == settings.EncoderModel {
		return settings.Config{}, in.ErrKind("a GPT or a run of attention train")
	}
	return in.Config, nil
}

// checkFinished returns an error for a run that is not finished.
func (in *Inspection) checkFinished() error {
	if !in.unfinished {
		return nil
	}
	return fmt.Errorf("%s: got a run that is not finished, want one that is; to end it where it stands: %s --steps %d",
		in.Dir, in.resumeCommand(), in.newest())
}

// resumeCommand returns the shell command that resumes the run.
func (in *Inspection) resumeCommand() string {
	return program.Command(in.Config.Command(), "--resume", in.Dir)
}

// CheckpointAt returns the run folder of a checkpoint's file and the steps after which it was saved; ok is false if
// there is no checkpoint at the path.
func CheckpointAt(path string) (dir string, steps int, ok bool) {
	dir, file := FolderOf(filepath.Clean(path))
	if file == "" {
		return "", 0, false
	}
	all := filepath.Dir(file)
	saved, err := checkpoint.Steps(all)
	at := slices.IndexFunc(saved, func(n int) bool { return checkpoint.Path(all, n) == file })
	if err != nil || at < 0 {
		return "", 0, false
	}
	return dir, saved[at], true
}

// FolderOf returns the folder of a run, and its checkpoint if the path names one.
func FolderOf(path string) (dir, file string) {
	if all := filepath.Dir(path); filepath.Base(all) == settings.CheckpointsFolder {
		return filepath.Dir(all), path
	}
	return path, ""
}

// ReadConfig reads the config of a run folder, which a command is to resume.
func ReadConfig(dir, command string) (settings.Config, error) {
	c, err := readConfig(dir, command)
	if err != nil {
		return c, fmt.Errorf("--resume: %w", err)
	}
	return c, nil
}

func readConfig(dir, command string) (c settings.Config, err error) {
	in, err := Inspect(dir)
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		return c, fmt.Errorf("%w, want the folder of a run", file)
	}
	if err != nil {
		return c, err
	}
	if !in.IsRun() && command == settings.Train {
		return c, fmt.Errorf("%w; to begin a run with its weights: --init %s", in.ErrNoRun(), dir)
	}
	if !in.IsRun() {
		return c, in.ErrNoRun()
	}
	if other := in.Config.Command(); other != command {
		return c, fmt.Errorf("%s: got a run of attention %s, want one of attention %s; resume it with: %s", dir, other,
			command, in.resumeCommand())
	}
	c = in.Config
	return c, settings.InPart(filepath.Join(dir, settings.ConfigFile), c.Validate())
}
