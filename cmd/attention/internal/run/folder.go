package run

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"attention/internal/folder"
	"attention/internal/oneline"
	"attention/layers"
	"attention/train"
)

// Folder is the folder of a run. metrics.jsonl and watch.jsonl grow line by line; every other file is written under
// another name and renamed. One process at a time holds the folder. Nothing outside it is written, removed or read
// back: links in it are refused.
type Folder struct {
	Path        string
	Checkpoints *train.Checkpoints
	Metrics     *Metrics     // nil until training begins
	Watch       *train.Watch // nil until training begins
	dir         *folder.Dir
}

// The files of a run folder.
const (
	ConfigFile        = "config.json"
	ModelFile         = "model.safetensors"
	MetricsFile       = "metrics.jsonl"
	CheckpointsFolder = "checkpoints"
	LossPicture       = "loss.png"
	AttentionPicture  = "attention.png"
	WeightsPicture    = "weights.png"
	StepsPicture      = "attention-steps.png"
)

// writtenFiles are the files that are written under another name and renamed.
var writtenFiles = []string{ConfigFile, ModelFile, ReportFile, LossPicture, AttentionPicture, WeightsPicture,
	StepsPicture, train.WatchTensors}

func written(name string) bool { return slices.Contains(writtenFiles, name) }

// NewFolder makes a run folder at path, or the first free one of runs/1, runs/2, … if path is empty. It never
// overwrites: a folder with files is an error.
func NewFolder(path string, c train.CheckpointsConfig) (*Folder, error) {
	var err error
	if path == "" {
		path, err = folder.MakeNext("runs")
	}
	var dir *folder.Dir
	if err == nil {
		dir, err = folder.Make(path)
	}
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

// checkFree returns an error for a folder that holds more than the remains of a run killed before it began.
func checkFree(dir *folder.Dir) error {
	names, err := dir.Names()
	if err != nil {
		return outError(err)
	}
	foreign := func(ours func(string) bool) func(name string) bool {
		return func(name string) bool { return name != CheckpointsFolder && !folder.IsLeftover(name, ours) }
	}
	checkpoints, _ := folder.Names(dir.Path(CheckpointsFolder)) // there may be none
	if slices.ContainsFunc(names, foreign(written)) || slices.ContainsFunc(checkpoints, foreign(train.IsCheckpoint)) {
		return fmt.Errorf("--out: %s: got a folder that is not empty, want a new or empty one", dir.Path(""))
	}
	return nil
}

// OpenFolder locks a run folder and removes incomplete files. A folder in which a file of the run is a link, or
// otherwise not regular, is an error.
func OpenFolder(path string, c train.CheckpointsConfig) (*Folder, error) {
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
func openCheckpoints(dir *folder.Dir, c train.CheckpointsConfig) (*train.Checkpoints, error) {
	for _, name := range append([]string{MetricsFile, train.WatchLines}, writtenFiles...) {
		if err := dir.Check(name); err != nil { // now, not after hours of training
			return nil, err
		}
	}
	if err := dir.MakeFolder(CheckpointsFolder); err != nil {
		return nil, err
	}
	return train.OpenCheckpoints(dir.Path(CheckpointsFolder), c)
}

func outError(err error) error { return fmt.Errorf("--out: %w", wanted(err, "a folder to write to")) }

// CheckPlace returns an error if the folder is no longer at its path. The run continues to write into the folder,
// wherever it is.
func (f *Folder) CheckPlace() error {
	if f.dir.InPlace() {
		return nil
	}
	return fmt.Errorf("%s: got none or another folder, want that of the run: it was moved or removed during the run",
		f.Path)
}

// WatchTo makes a loop record to the folder.
func (f *Folder) WatchTo(l *train.Loop, c train.WatchConfig) (err error) {
	if f.Watch, err = train.OpenWatch(f.Path, c); err != nil {
		return err
	}
	return l.WatchTo(f.Watch)
}

// Newest returns the path of the newest checkpoint, or "" if there is none.
func (f *Folder) Newest() string {
	steps, err := f.Checkpoints.Steps()
	if err != nil || len(steps) == 0 {
		return ""
	}
	return f.Checkpoints.Path(steps[len(steps)-1])
}

// Write makes a file of the folder, one of writtenFiles, with the content that fill writes.
func (f *Folder) Write(name string, fill func(io.Writer) error) error {
	err := fmt.Errorf("got a file that no run has, want one of %v", writtenFiles)
	if written(name) {
		err = f.dir.Write(name, fill)
	}
	if err != nil {
		return fmt.Errorf("train: %s: %w", f.dir.Path(name), withoutPath(err))
	}
	return nil
}

// WriteModel writes the parameters of a run of this config that has taken n steps. They are those after step best, or
// the last ones if that is 0.
func (f *Folder) WriteModel(c Config, p *layers.Params, n, best int) error {
	about, err := c.aboutModel()
	if err != nil {
		return err
	}
	metadata := map[string]string{stepsKey: strconv.Itoa(n)}
	if best > 0 {
		metadata[bestKey] = strconv.Itoa(best)
	}
	return f.writeParams(about, p, metadata)
}

// WriteParams writes the parameters, which are about these values of config.json, of a run that has taken n steps.
func (f *Folder) WriteParams(about map[string]string, p *layers.Params, n int) error {
	return f.writeParams(about, p, map[string]string{stepsKey: strconv.Itoa(n)})
}

func (f *Folder) writeParams(about map[string]string, p *layers.Params, metadata map[string]string) error {
	for key, value := range about {
		metadata[aboutPrefix+key] = value
	}
	return f.Write(ModelFile, func(w io.Writer) error { return train.WriteParamsTo(w, p, metadata) })
}

// CheckConfig returns an error if config.json, without which the model is useless, has gone since the run began. It
// writes it anew.
func (f *Folder) CheckConfig(c Config) error {
	names, err := f.dir.Names()
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	if slices.Contains(names, ConfigFile) {
		return nil
	}
	if err := c.Write(f); err != nil {
		return err
	}
	return fmt.Errorf("train: %s: got none, want the one that the run began with: it was removed and is written anew",
		f.dir.Path(ConfigFile))
}

// Close closes metrics.jsonl and unlocks the folder. It returns the first error of metrics.jsonl.
func (f *Folder) Close() error {
	var err error
	if f.Metrics != nil {
		err = f.Metrics.Close()
	}
	if f.Watch != nil {
		err = oneline.Join(err, f.Watch.Close())
	}
	return oneline.Join(err, f.Checkpoints.Close(), f.dir.Close())
}
