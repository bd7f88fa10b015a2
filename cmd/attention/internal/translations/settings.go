package translations

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/internal/config"
	"attention/train/tasks/dates"
)

// Settings are all that makes a run of attention translate: its config.json, in the form of attention train's.
type Settings struct {
	Format   int              `json:"format"` // run.Format
	Model    ModelSettings    `json:"model"`
	Batch    int              `json:"batch"`
	Training TrainingSettings `json:"training"`
}

// TrainingSettings are the settings of the steps.
type TrainingSettings struct {
	Steps int   `json:"steps"`
	Seed  int64 `json:"seed"`
}

// ModelSettings are the config of the model and its vocabularies.
type ModelSettings struct {
	Type string `json:"type"` // run.DatesModel
	dates.Config
	Written string `json:"written_characters"` // the vocabulary of the encoder
	ISO     string `json:"iso_characters"`     // the vocabulary of the decoder
}

// NewSettings returns settings with the vocabularies and without numbers.
func NewSettings() Settings {
	return Settings{Format: settings.Format, Model: ModelSettings{Type: settings.DatesModel,
		Written: dates.WrittenCharacters, ISO: dates.ISOCharacters}}
}

// Validate returns an error for the first wrong field.
func (s Settings) Validate() error {
	err := cmp.Or(config.AtLeast(s, 1, "Training.Steps", "Batch"), config.In(s, "Model", s.Model.Validate()))
	if err != nil {
		return err
	}
	if n := float64(s.Batch) * float64(dates.WrittenLength) * 4 * float64(s.Model.EmbedDim); n > dates.MaxElements {
		return config.Errorf(s, "Batch", "got %d, which with %s=%d makes %.3g elements of an MLP, want at most %d",
			s.Batch, config.Field("Model.EmbedDim"), s.Model.EmbedDim, n, dates.MaxElements)
	}
	return nil
}

// Inspect reads the folder of a run.
func Inspect(dir string) (*models.Inspection, error) {
	in, err := models.Inspect(dir)
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("%w, want the folder of a run of attention translate", file)
	}
	return in, err
}

// ReadSettings reads the config.json of a run.
func ReadSettings(in *models.Inspection) (s Settings, err error) {
	path := filepath.Join(in.Dir, settings.ConfigFile)
	if in.Kind != settings.DatesModel {
		return s, in.ErrKind("one of attention translate")
	}
	if err := in.Decode(&s); err != nil {
		return s, fmt.Errorf("%s: %w", path, config.JSON(err))
	}
	if s.Model.Written != dates.WrittenCharacters || s.Model.ISO != dates.ISOCharacters {
		return s, fmt.Errorf("%s: model: got other characters than this program's, want %q and %q",
			path, dates.WrittenCharacters, dates.ISOCharacters)
	}
	if err := s.Validate(); err != nil {
		return s, fmt.Errorf("%s: %w", path, config.JSON(err))
	}
	return s, nil
}

// Identity returns the settings that a checkpoint and the model must share with config.json.
func (s Settings) Identity() (map[string]string, error) {
	text, err := json.Marshal(s)
	return map[string]string{"config": string(text)}, err
}
