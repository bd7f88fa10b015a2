package generate

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"attention/cmd/attention/internal/run"
	"attention/internal/config"
	"attention/internal/folder"
	"attention/layers"
	"attention/train"
	"attention/train/text"
)

// openRun reads the model of a run with the weights of the newest of the checkpoints, after these steps, that is not
// damaged or, without checkpoints, the run's last weights.
func openRun(dir string, checkpoints []int) (*model, error) {
	path := filepath.Join(dir, run.ConfigFile)
	text, err := folder.ReadFile(path, folder.MaxConfig)
	if err != nil {
		return nil, err
	}
	m, c, err := newModel(text)
	if errors.Is(err, run.ErrNoRun) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, config.JSON(err))
	}
	if len(checkpoints) == 0 {
		return m, m.readFinished(dir)
	}
	for _, steps := range slices.Backward(checkpoints) {
		path := train.CheckpointPath(filepath.Join(dir, run.CheckpointsFolder), steps)
		checkpoint, err := train.ReadCheckpoint(path, m.model.Params())
		if errors.Is(err, train.ErrDamaged) && steps != checkpoints[0] {
			m.notes = append(m.notes, err.Error())
			continue
		}
		if err == nil {
			err = c.CheckAbout(dir, path, checkpoint.About)
		}
		m.notes = append(m.notes, fmt.Sprintf("the run is not finished: the weights are those of %s", path))
		return m, err
	}
	return m, nil
}

// readFinished reads the last weights of a run.
func (m *model) readFinished(dir string) error {
	if err := run.CheckModel(dir); err != nil {
		return err
	}
	path := filepath.Join(dir, run.ModelFile)
	if _, err := train.ReadParams(path, m.model.Params()); err != nil {
		return err
	}
	if err := train.CheckFinite(m.model.Params()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// newModel returns the model that a run's config.json describes, without its weights.
func newModel(data []byte) (*model, run.Config, error) {
	c, err := run.ParseConfig(data)
	if err == nil {
		err = c.ValidateModel()
	}
	if err != nil {
		return nil, c, err
	}
	dt, err := c.TensorType()
	if err != nil {
		return nil, c, err
	}
	m := &model{endOfText: -1}
	if m.tokenizer, err = c.Vocabulary.New(); err != nil {
		return nil, c, err
	}
	if c.Vocabulary.Name == text.GPT2 {
		m.endOfText = text.GPT2EndOfText
	}
	m.model, err = c.Model.New(layers.NewBlankParams(dt).Scope(""))
	return m, c, err
}
