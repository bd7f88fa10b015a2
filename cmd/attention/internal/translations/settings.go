package translations

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"attention/cmd/attention/internal/run"
	"attention/internal/config"
	"attention/train/dates"
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

// ModelSettings size the model.
type ModelSettings struct {
	Type    string `json:"type"` // run.DatesModel
	Width   int    `json:"width"`
	Heads   int    `json:"heads"`
	Blocks  int    `json:"blocks"`
	Written string `json:"written_characters"` // the vocabulary of the encoder
	ISO     string `json:"iso_characters"`     // the vocabulary of the decoder
}

// NewSettings returns settings with the vocabularies and without numbers.
func NewSettings() Settings {
	return Settings{Format: run.Format, Model: ModelSettings{Type: run.DatesModel,
		Written: dates.WrittenCharacters, ISO: dates.ISOCharacters}}
}

// maxElements is the most that a tensor of a training step may have: 512 MB in float32, and a step has several.
const maxElements = 1 << 27

// Validate returns an error for the first wrong field. It names fields by what name returns for their paths in JSON.
func (s Settings) Validate(name func(path string) string) error {
	for _, f := range []struct {
		path string
		got  int
	}{{"training.steps", s.Training.Steps}, {"batch", s.Batch}, {"model.width", s.Model.Width},
		{"model.heads", s.Model.Heads}, {"model.blocks", s.Model.Blocks}} {
		if f.got < 1 {
			return fmt.Errorf("%s: got %d, want at least 1", name(f.path), f.got)
		}
	}
	if s.Model.Width%s.Model.Heads != 0 {
		return fmt.Errorf("%s: got %d, want a divisor of %s %d",
			name("model.heads"), s.Model.Heads, name("model.width"), s.Model.Width)
	}
	b, e, n := float64(s.Batch), float64(s.Model.Width), float64(s.Model.Blocks)
	return cmp.Or(
		checkElements(name("model.width")+", "+name("model.blocks"), "weights", 28*e*e*n),
		checkElements(name("batch")+", "+name("model.width"), "elements of an MLP", b*float64(dates.WrittenLength)*4*e),
	)
}

// checkElements returns an error for settings that make tensors of too many elements. Their
// number is a float64, which does not overflow.
func checkElements(names, what string, n float64) error {
	if n > maxElements {
		return fmt.Errorf("%s: got %.3g %s, want at most %d", names, n, what, maxElements)
	}
	return nil
}

// ReadSettings reads the config.json of a run folder.
func ReadSettings(dir string) (Settings, error) {
	in, err := Inspect(dir)
	if err != nil {
		return Settings{}, err
	}
	return settingsIn(in)
}

// Inspect reads what the folder of a run holds.
func Inspect(dir string) (*run.Inspection, error) {
	in, err := run.Inspect(dir)
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("%w, want the folder of a run of attention translate", file)
	}
	return in, err
}

func settingsIn(in *run.Inspection) (s Settings, err error) {
	path := filepath.Join(in.Dir, run.ConfigFile)
	if in.Kind != run.DatesModel {
		return s, fmt.Errorf("%s: model.type: got %q, want %q, that of a run of attention translate",
			path, in.Kind, run.DatesModel)
	}
	if err := in.Decode(&s); err != nil {
		return s, fmt.Errorf("%s: %w", path, config.JSON(err))
	}
	if s.Model.Written != dates.WrittenCharacters || s.Model.ISO != dates.ISOCharacters {
		return s, fmt.Errorf("%s: model: got other characters than this program's, want %q and %q",
			path, dates.WrittenCharacters, dates.ISOCharacters)
	}
	if err := s.Validate(func(path string) string { return path }); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// About returns what a checkpoint and the model must share with config.json.
func (s Settings) About() (map[string]string, error) {
	text, err := json.Marshal(s)
	return map[string]string{"config": string(text)}, err
}
