// Package translations is the folder of a run of attention translate: its settings and its model. The command that
// trains it and the one that shows its attention share it.
package translations

import (
	"attention/cmd/attention/internal/run/models"
	"attention/layers"
	"attention/train/tasks/dates"

	"gorgonia.org/tensor"
)

// Model is the model of a run.
type Model struct {
	*dates.Model
	Settings Settings
	Steps    int // that the run has taken
}

// New returns a model whose weights are those that its seed draws.
func New(s Settings) (*Model, error) {
	m, err := dates.New(layers.NewParams(tensor.Float32, s.Training.Seed).Scope(""), s.Model.Config)
	return &Model{Model: m, Settings: s}, err
}

// Read reads the model of a run, from its newest checkpoint if the run is not finished.
func Read(in *models.Inspection) (*Model, error) {
	if in.Unfinished() {
		return ReadAt(in, in.Checkpoints[len(in.Checkpoints)-1])
	}
	return read(in, in.Planned, in.ReadModel)
}

// ReadAt reads the model of a run as it was at the checkpoint after n steps.
func ReadAt(in *models.Inspection, n int) (*Model, error) {
	return read(in, n, func(p *layers.Params, identity map[string]string) error {
		return in.ReadCheckpoint(n, p, identity)
	})
}

// read returns the model of a run after n steps, with the weights that readWeights reads.
func read(in *models.Inspection, n int, readWeights func(*layers.Params, map[string]string) error) (*Model, error) {
	s, err := ReadSettings(in)
	if err != nil {
		return nil, err
	}
	m, err := New(s)
	if err != nil {
		return nil, err
	}
	identity, err := s.Identity()
	if err != nil {
		return nil, err
	}
	m.Steps = n
	return m, readWeights(m.Params(), identity)
}
