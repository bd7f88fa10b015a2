// Package session implements the phases of every run: it begins, resumes, trains, evaluates, saves, reports and stops.
// Each kind of run supplies a model, sources of batches and functions that print. The package also reads and writes the
// files of a run folder.
package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"attention/cmd/attention/internal/pictures"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/internal/about"
	"attention/internal/folder"
	"attention/internal/oneline"
	"attention/layers"
	"attention/train/checkpoint"
	"attention/train/loop"
	"attention/train/metrics"
	"attention/train/record"
)

// Folder is the folder of a run. metrics.jsonl and watch.jsonl grow line by line; every other file is written under
// another name and renamed. One process at a time holds the folder. Nothing outside it is written, removed or read
// back: links in it are refused.
type Folder struct {
	Path        string
	Checkpoints *checkpoint.Folder
	Metrics     *metrics.Writer  // nil until training begins
	Recorder    *record.Recorder // nil until training begins
	config      any              // of config.json
	dir         *folder.Dir
}

// The files of a run folder besides those of its model.
const (
	LossPicture      = "loss.png"
	AttentionPicture = "attention.png"
	WeightsPicture   = "weights.png"
	StepsPicture     = "attention-steps.png"
)

// writtenFiles are the files that are written under a temporary name and renamed.
var writtenFiles = []string{settings.ConfigFile, settings.TokenizerFile, settings.ModelFile, ReportFile, LossPicture,
	AttentionPicture, WeightsPicture, StepsPicture, record.TensorsFile}

func written(name string) bool { return slices.Contains(writtenFiles, name) }

// NewFolder makes a run folder at path, or the first free one of runs/1, runs/2, … if path is empty. It never
// overwrites: a folder with files is an error.
func NewFolder(path string, c checkpoint.Config) (*Folder, error) {
	if path == "" {
		next, err := folder.MakeNext("runs")
		if err != nil {
			return nil, outError(err)
		}
		path = next
	}
	dir, err := folder.Make(path)
	if err != nil {
		return nil, outError(err)
	}
	defer dir.Close()
	if err := checkFree(dir); err != nil {
		return nil, err
	}
	f, err := OpenFolder(path, c)
	if err != nil {
		return nil, outError(err)
	}
	if err := checkFree(dir); err != nil { // another process may have been first
		return nil, oneline.Join(err, f.Close())
	}
	return f, nil
}

// checkFree returns an error for a folder with other files than the remains of a run that was killed before it began.
func checkFree(dir *folder.Dir) error {
	names, err := dir.Names()
	if err != nil {
		return outError(err)
	}
	foreign := func(ours func(string) bool) func(name string) bool {
		return func(name string) bool { return name != settings.CheckpointsFolder && !folder.IsLeftover(name, ours) }
	}
	checkpoints, _ := folder.Names(dir.Path(settings.CheckpointsFolder)) // there may be none
	if slices.ContainsFunc(names, foreign(written)) || slices.ContainsFunc(checkpoints, foreign(checkpoint.IsName)) {
		return fmt.Errorf("--out: %s: got a folder that is not empty, want a new or empty one", dir.Path(""))
	}
	return nil
}

// OpenFolder locks a run folder and removes incomplete files. A folder in which a file of the run is a link, or
// otherwise not regular, is an error.
func OpenFolder(path string, c checkpoint.Config) (*Folder, error) {
	dir, err := folder.Enter(path)
	if err != nil {
		return nil, err
	}
	checkpoints, err := openCheckpoints(dir, c)
	if err != nil {
		return nil, oneline.Join(err, dir.Close())
	}
	f := &Folder{Path: path, Checkpoints: checkpoints, dir: dir}
	if err := dir.RemoveIncomplete(written); err != nil {
		return nil, oneline.Join(err, f.Close())
	}
	return f, nil
}

// openCheckpoints checks the files of a run folder and opens its checkpoints.
func openCheckpoints(dir *folder.Dir, c checkpoint.Config) (*checkpoint.Folder, error) {
	for _, name := range append([]string{metrics.FileName, record.LinesFile}, writtenFiles...) {
		if err := dir.Check(name); err != nil { // now and not after hours of training
			return nil, err
		}
	}
	if err := dir.MakeFolder(settings.CheckpointsFolder); err != nil {
		return nil, err
	}
	return checkpoint.Open(dir.Path(settings.CheckpointsFolder), c)
}

func outError(err error) error {
	return fmt.Errorf("--out: %w", folder.Want(err, "a folder to write to"))
}

// CheckPlace returns an error if the folder is no longer at its path. The run continues to write into the folder,
// wherever it is.
func (f *Folder) CheckPlace() error {
	if f.dir.InPlace() {
		return nil
	}
	return fmt.Errorf("%s: got none or another folder, want that of the run: it was moved or removed during the run",
		f.Path)
}

// RecordTo makes a loop record to the folder.
func (f *Folder) RecordTo(l *loop.Loop, c record.Config) (err error) {
	f.Recorder, err = record.Open(l, f.Path, c)
	return err
}

// Newest returns the path of the newest checkpoint, or "" if there is none. An error means that the checkpoints cannot
// be read, so it is unknown whether there is one.
func (f *Folder) Newest() (string, error) {
	path, err := newestIn(f.dir.Path(settings.CheckpointsFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return path, err
}

// Write makes a file of the folder, one of writtenFiles, with the content that fill writes.
func (f *Folder) Write(name string, fill func(io.Writer) error) error {
	err := fmt.Errorf("got a file that no run has, want one of %v", writtenFiles)
	if written(name) {
		err = f.dir.Write(name, fill)
	}
	if err != nil {
		return fmt.Errorf("train: %s: %w", f.dir.Path(name), folder.WithoutPath(err))
	}
	return nil
}

// WriteModel writes the parameters of a run that has taken n steps, with the values of config.json that describe the
// model. The parameters are those after step best, or the last ones if that is 0.
func (f *Folder) WriteModel(values map[string]string, p *layers.Params, n, best int) error {
	return f.Write(settings.ModelFile, func(w io.Writer) error {
		return checkpoint.WriteParamsTo(w, p, about.ModelMetadata(values, n, best))
	})
}

// WriteConfig writes config.json.
func (f *Folder) WriteConfig(config any) error {
	f.config = config
	return f.writeJSON(settings.ConfigFile, config)
}

func (f *Folder) writeJSON(name string, value any) error {
	return f.Write(name, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(value)
	})
}

// Close closes metrics.jsonl and unlocks the folder. It returns the first error of metrics.jsonl.
func (f *Folder) Close() error {
	var err error
	if f.Metrics != nil {
		err = f.Metrics.Close()
	}
	if f.Recorder != nil {
		err = oneline.Join(err, f.Recorder.Close())
	}
	return oneline.Join(err, f.Checkpoints.Close(), f.dir.Close())
}

// title returns the title of a picture of the run's model.
func (f *Folder) title(model string) string {
	return fmt.Sprintf("%s, run %s", model, models.Name(f.Path))
}

// DrawRecord draws weights.png from the recording of a run with these parameters, and attention-steps.png from the
// recorded attention weights whose names match pattern (path.Match). Without such weights it draws only weights.png.
func (f *Folder) DrawRecord(p *layers.Params, pattern, model string) error {
	title := f.title(model)
	w, err := record.Read(context.Background(), f.Path, nil)
	if err != nil {
		return err
	}
	weights := f.Write(WeightsPicture, pictures.Weights(w, p, title).Write)
	steps, ok, err := pictures.Steps(w, pattern, title)
	switch {
	case err != nil:
		err = fmt.Errorf("train: %s: %w", f.dir.Path(record.TensorsFile), err)
	case ok:
		err = f.Write(StepsPicture, steps.Write)
	}
	return oneline.Join(weights, err)
}
