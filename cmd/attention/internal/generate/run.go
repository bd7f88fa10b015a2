package generate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"attention/cmd/attention/internal/run"
	"attention/internal/config"
	"attention/layers"
	"attention/train"
	"attention/train/text"
)

// openRun reads the model of a run with the weights of the newest of the checkpoints, after these steps, that is not
// damaged or, without checkpoints, the run's last weights.
func openRun(dir string, checkpoints []int) (*model, error) {
	path := filepath.Join(dir, run.ConfigFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := newModel(text)
	if errors.Is(err, run.ErrNoRun) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, config.JSON(err))
	}
	if len(checkpoints) == 0 {
		_, err = train.ReadParams(filepath.Join(dir, run.ModelFile), m.model.Params())
		return m, err
	}
	for _, steps := range slices.Backward(checkpoints) {
		path := train.CheckpointPath(filepath.Join(dir, run.CheckpointsFolder), steps)
		m.note = fmt.Sprintf("the run is not finished: the weights are those of %s", path)
		if _, err = train.ReadCheckpoint(path, m.model.Params()); !errors.Is(err, train.ErrDamaged) {
			break
		}
	}
	return m, err
}

// newModel returns the model that a run's config.json describes, without its weights.
func newModel(data []byte) (*model, error) {
	c, err := run.ParseConfig(data)
	if err == nil {
		err = c.ValidateModel()
	}
	if err != nil {
		return nil, err
	}
	dt, err := c.TensorType()
	if err != nil {
		return nil, err
	}
	m := &model{endOfText: -1}
	if m.tokenizer, err = c.Vocabulary.New(); err != nil {
		return nil, err
	}
	if c.Vocabulary.Name == text.GPT2 {
		m.endOfText = text.GPT2EndOfText
	}
	m.model, err = c.Model.New(layers.NewBlankParams(dt).Scope(""))
	return m, err
}
