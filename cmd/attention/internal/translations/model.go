// Package translations is what a run of attention translate is, by its folder: its settings and its model. The command
// that trains it and the one that shows its attention share it.
package translations

import (
	"fmt"
	"path/filepath"

	"attention/cmd/attention/internal/run"
	"attention/layers"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/dates"

	"gorgonia.org/tensor"
)

// Model is the model of a run.
type Model struct {
	*dates.Model
	Settings Settings
	Name     string // of the run
	Steps    int    // that the run has taken
}

// New returns a model whose weights are those that its seed draws.
func New(s Settings) (*Model, error) {
	m, err := dates.New(layers.NewParams(tensor.Float32, s.Training.Seed),
		dates.Config{Width: s.Model.Width, Heads: s.Model.Heads, Blocks: s.Model.Blocks, Batch: s.Batch})
	return &Model{Model: m, Settings: s}, err
}

// Read reads the model of a run: that of the newest checkpoint if the run is not finished.
func Read(in *run.Inspection) (*Model, error) {
	m, err := open(in)
	if err != nil {
		return nil, err
	}
	if in.Unfinished() {
		return m, m.readCheckpoint(in.Dir, in.Checkpoints[len(in.Checkpoints)-1])
	}
	m.Steps = m.Settings.Training.Steps
	path := filepath.Join(in.Dir, run.ModelFile)
	metadata, err := checkpoint.ReadParams(path, m.Params)
	if err != nil {
		return nil, err
	}
	identity, err := run.IdentityOf(metadata)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, m.check(in.Dir, path, identity)
}

// ReadAt reads the model of a run as it was at the checkpoint after n steps.
func ReadAt(in *run.Inspection, steps int) (*Model, error) {
	m, err := open(in)
	if err != nil {
		return nil, err
	}
	return m, m.readCheckpoint(in.Dir, steps)
}

// open returns the model of a run without its weights.
func open(in *run.Inspection) (*Model, error) {
	s, err := settingsIn(in)
	if err != nil {
		return nil, err
	}
	m, err := New(s)
	if err != nil {
		return nil, err
	}
	m.Name = run.Name(in.Dir)
	return m, nil
}

func (m *Model) readCheckpoint(dir string, steps int) error {
	path := checkpoint.Path(filepath.Join(dir, run.CheckpointsFolder), steps)
	c, err := checkpoint.Read(path, m.Params)
	if err != nil {
		return err
	}
	m.Steps = c.Steps
	return m.check(dir, path, c.About)
}

// check returns an error if the parameters, read from the file at path, do not belong to the folder's config.json or
// are no numbers.
func (m *Model) check(dir, path string, about map[string]string) error {
	got, err := m.Settings.About()
	if err != nil {
		return err
	}
	if about != nil {
		if err := run.CheckIdentity(dir, path, got, about); err != nil {
			return err
		}
	}
	if err := train.CheckFinite(m.Params); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
