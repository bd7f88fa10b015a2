package translate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"attention/cmd/attention/internal/run"
	"attention/internal/config"
	"attention/internal/folder"
	"attention/layers"
	"attention/train"
)

// settings are all that makes a run of attention translate: its config.json, in the form of attention train's.
type settings struct {
	Model    modelSettings    `json:"model"`
	Batch    int              `json:"batch"`
	Training trainingSettings `json:"training"`
}

// trainingSettings are the settings of the steps.
type trainingSettings struct {
	Steps int   `json:"steps"`
	Seed  int64 `json:"seed"`
}

// modelSettings size the model.
type modelSettings struct {
	Type    string `json:"type"` // run.DatesModel
	Width   int    `json:"width"`
	Heads   int    `json:"heads"`
	Blocks  int    `json:"blocks"`
	Written string `json:"written_characters"` // the vocabulary of the encoder
	ISO     string `json:"iso_characters"`     // the vocabulary of the decoder
}

// newSettings returns settings with the vocabularies and without numbers.
func newSettings() settings {
	return settings{Model: modelSettings{Type: run.DatesModel, Written: writtenCharacters, ISO: isoCharacters}}
}

// Settings that have no flag.
const (
	peakRate  = 0.003
	warmup    = 100 // steps
	evalSteps = 100 // between two evaluations

	// maxElements is the most that a tensor of a training step may have: 512 MB in float32,
	// and a step has several.
	maxElements = 1 << 27
)

// checkpoints sets when a run saves.
var checkpoints = train.CheckpointsConfig{Every: evalSteps, Keep: 2}

// flagOf returns the flag of a field of the settings by its path in JSON.
func flagOf(path string) string { return "--" + path[strings.LastIndexByte(path, '.')+1:] }

// validate returns an error for the first wrong field. It names fields by what name returns for their paths in JSON.
func (s settings) validate(name func(path string) string) error {
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
		checkElements(name("batch")+", "+name("model.width"), "elements of an MLP", b*float64(writtenLength)*4*e),
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

// readSettings reads the config.json of a run folder.
func readSettings(dir string) (settings, error) {
	if err := run.CheckFolder(dir); err != nil {
		return settings{}, err
	}
	path := filepath.Join(dir, run.ConfigFile)
	text, err := folder.ReadFile(path, folder.MaxConfig)
	if err != nil {
		return settings{}, fmt.Errorf("%w, want the folder of a run of attention translate", err)
	}
	var head struct {
		Model struct {
			Type string `json:"type"`
		} `json:"model"`
	}
	var s settings
	if err = config.Foreign.Decode(text, &head); err == nil && head.Model.Type != run.DatesModel {
		return s, fmt.Errorf("%s: model.type: got %q, want %q, that of a run of attention translate",
			path, head.Model.Type, run.DatesModel)
	}
	if err == nil {
		err = config.Decode(text, &s)
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, config.JSON(err))
	}
	if s.Model.Written != writtenCharacters || s.Model.ISO != isoCharacters {
		return s, fmt.Errorf("%s: model: got other characters than this program's, want %q and %q",
			path, writtenCharacters, isoCharacters)
	}
	if err := s.validate(func(path string) string { return path }); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// write writes config.json.
func (s settings) write(f *run.Folder) error {
	return f.Write(run.ConfigFile, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(s)
	})
}

func (s settings) modelConfig(a alphabets) layers.Seq2SeqConfig {
	return layers.Seq2SeqConfig{
		SourceVocabSize:  a.written.Len(),
		TargetVocabSize:  a.iso.Len() + 1, // and the begin mark
		ContextLength:    max(writtenLength, isoLength),
		EmbedDim:         s.Model.Width,
		NumEncoderLayers: s.Model.Blocks,
		NumDecoderLayers: s.Model.Blocks,
		NumHeads:         s.Model.Heads,
	}
}

// about returns what a checkpoint and the model must share with config.json.
func (s settings) about() (map[string]string, error) {
	text, err := json.Marshal(s)
	return map[string]string{"config": string(text)}, err
}

func (s settings) trainConfig() (train.Config, error) {
	about, err := s.about()
	return train.Config{
		Steps: s.Training.Steps, EvalEvery: evalSteps, About: about,
		StepConfig: train.StepConfig{
			Solver: train.SolverConfig{Name: train.AdamW, Beta2: 0.99},
			Schedule: train.ScheduleConfig{
				Schedule: train.CosineLR{Peak: peakRate, WarmupSteps: min(warmup, s.Training.Steps/4), Steps: s.Training.Steps}},
			ClipNorm: 1, Seed: s.Training.Seed,
		},
	}, err
}
