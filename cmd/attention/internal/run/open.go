package run

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"attention/internal/config"
	"attention/internal/folder"
	"attention/layers"
	"attention/train"
	"attention/train/pretrained"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// OpenModel is a model that can continue a text.
type OpenModel struct {
	Model     Model
	Tokenizer text.Tokenizer
	EndOfText int      // id; −1 if there is none
	Notes     []string // on the origin of the weights, to be printed
}

// Open reads the model of a folder: a GPT, or the model of a run of attention train, finished or not.
func Open(dir string) (*OpenModel, error) {
	if err := CheckFolder(dir); err != nil {
		return nil, err
	}
	if checkpoints := Unfinished(dir); len(checkpoints) > 0 {
		return openRun(dir, checkpoints)
	}
	m, err := ReadGPT(dir)
	if errors.Is(err, pretrained.ErrNotGPT) {
		if m, runErr := openRun(dir, nil); !errors.Is(runErr, ErrNoRun) {
			return m, runErr
		}
	}
	if err != nil {
		return nil, err
	}
	if m.Tokenizer == nil {
		return nil, fmt.Errorf("%s: config.json: got no vocabulary of a tokenizer known here, "+
			"want \"vocabulary\" or GPT-2's %d tokens", dir, text.GPT2EndOfText+1)
	}
	return &OpenModel{Model: NewGPT(m.Model), Tokenizer: m.Tokenizer, EndOfText: m.EndOfText}, nil
}

// OpenAt reads the model of a run folder of attention train as it was at the checkpoint after so many steps.
func OpenAt(dir string, steps int) (*OpenModel, error) {
	m, err := openRun(dir, []int{steps})
	if err == nil {
		m.Notes = nil
	}
	return m, err
}

// CheckpointAt returns the run folder of a checkpoint's file and the steps after which it was saved; ok is false if
// the path is none of a checkpoint that is there.
func CheckpointAt(path string) (dir string, steps int, ok bool) {
	all := filepath.Dir(filepath.Clean(path))
	if filepath.Base(all) != CheckpointsFolder {
		return "", 0, false
	}
	saved, err := train.CheckpointSteps(all)
	at := slices.IndexFunc(saved, func(n int) bool { return train.CheckpointPath(all, n) == filepath.Clean(path) })
	if err != nil || at < 0 {
		return "", 0, false
	}
	return filepath.Dir(all), saved[at], true
}

// openRun reads the model of a run with the weights of the newest of the checkpoints, after these steps, that is not
// damaged or, without checkpoints, the run's last weights.
func openRun(dir string, checkpoints []int) (*OpenModel, error) {
	path := filepath.Join(dir, ConfigFile)
	text, err := folder.ReadFile(path, folder.MaxConfig)
	if err != nil {
		return nil, err
	}
	m, c, err := newModel(text)
	if errors.Is(err, ErrNoRun) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, config.JSON(err))
	}
	if len(checkpoints) == 0 {
		return m, m.readFinished(dir)
	}
	for _, steps := range slices.Backward(checkpoints) {
		path := train.CheckpointPath(filepath.Join(dir, CheckpointsFolder), steps)
		checkpoint, err := train.ReadCheckpoint(path, m.Model.Params())
		if errors.Is(err, train.ErrDamaged) && steps != checkpoints[0] {
			m.Notes = append(m.Notes, err.Error())
			continue
		}
		if err == nil {
			err = c.CheckAbout(dir, path, checkpoint.About)
		}
		m.Notes = append(m.Notes, fmt.Sprintf("the run is not finished: the weights are those of %s", path))
		return m, err
	}
	return m, nil
}

// readFinished reads the last weights of a
func (m *OpenModel) readFinished(dir string) error {
	if err := CheckModel(dir); err != nil {
		return err
	}
	path := filepath.Join(dir, ModelFile)
	if _, err := train.ReadParams(path, m.Model.Params()); err != nil {
		return err
	}
	if err := train.CheckFinite(m.Model.Params()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// newModel returns the model that a run's config.json describes, without its weights.
func newModel(data []byte) (*OpenModel, Config, error) {
	c, err := ParseConfig(data)
	if err == nil {
		err = c.ValidateModel()
	}
	if err != nil {
		return nil, c, err
	}
	m, err := c.open()
	return m, c, err
}

// open returns the config's model, without weights.
func (c Config) open() (*OpenModel, error) {
	dt, err := c.TensorType()
	if err != nil {
		return nil, err
	}
	m := &OpenModel{EndOfText: -1}
	if m.Tokenizer, err = c.Vocabulary.New(); err != nil {
		return nil, err
	}
	if c.Vocabulary.Name == text.GPT2 {
		m.EndOfText = text.GPT2EndOfText
	}
	m.Model, err = c.Model.New(layers.NewBlankParams(dt).Scope(""))
	return m, err
}

// Copy returns the config's model with a copy of weights, which may change afterwards.
func (c Config) Copy(weights *layers.Params) (*OpenModel, error) {
	m, err := c.open()
	if err != nil {
		return nil, err
	}
	for name, value := range m.Model.Params().All() {
		of, ok := weights.Get(name)
		if !ok {
			return nil, fmt.Errorf("weights: got no %s, want all of the model's", name)
		}
		if err := tensor.Copy(value, of); err != nil {
			return nil, fmt.Errorf("weights: %s: %w", name, err)
		}
	}
	return m, nil
}
