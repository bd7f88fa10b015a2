package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"attention/layers"
	"attention/train"

	"github.com/moby/sys/atomicwriter"
)

// runFolder is where a run leaves its files. metrics.jsonl grows line by line;
// every other file is written beside and renamed.
type runFolder struct {
	path    string
	metrics *os.File
	err     error // the first that metrics.jsonl gave
}

// newRunFolder makes the folder, or the first new one of runs/1, runs/2, … A folder
// with files in it is refused: nothing of another run is overwritten.
func newRunFolder(path string) (*runFolder, error) {
	var err error
	if path == "" {
		path, err = nextFolder("runs")
	} else {
		err = os.MkdirAll(path, 0o755)
	}
	if err != nil {
		return nil, outError(err)
	}
	files, err := os.ReadDir(path)
	if err != nil {
		return nil, outError(err)
	}
	if len(files) > 0 {
		return nil, fmt.Errorf("--out: %s: got a folder that is not empty, want a new or empty one", path)
	}
	metrics, err := os.OpenFile(filepath.Join(path, "metrics.jsonl"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, outError(err)
	}
	return &runFolder{path: path, metrics: metrics}, nil
}

func outError(err error) error { return fmt.Errorf("--out: %w, want a folder to write to", err) }

// nextFolder makes the first folder called by a number that is not there yet.
func nextFolder(parent string) (string, error) {
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	for i := 1; ; i++ {
		path := filepath.Join(parent, strconv.Itoa(i))
		if err := os.Mkdir(path, 0o755); !errors.Is(err, os.ErrExist) {
			return path, err
		}
	}
}

// addStep adds a line to metrics.jsonl.
func (f *runFolder) addStep(s train.Step) {
	f.add(struct {
		Step            int     `json:"step"` // steps taken, this one included
		Loss            float64 `json:"loss"`
		LearningRate    float64 `json:"learning_rate"`
		GradNorm        float64 `json:"grad_norm"`
		TokensPerSecond float64 `json:"tokens_per_second"`
	}{s.N + 1, s.Loss, s.LearningRate, s.GradNorm, s.TokensPerSecond})
}

// addEvaluation adds a line to metrics.jsonl.
func (f *runFolder) addEvaluation(e train.Evaluation) {
	f.add(struct {
		Step           int     `json:"step"`
		ValidationLoss float64 `json:"validation_loss"`
	}{e.Step, e.Loss})
}

func (f *runFolder) add(line any) {
	if f.err == nil {
		f.err = json.NewEncoder(f.metrics).Encode(line)
	}
}

// close ends metrics.jsonl and returns the first error it gave.
func (f *runFolder) close() error {
	if err := errors.Join(f.err, f.metrics.Close()); err != nil {
		return fmt.Errorf("train: metrics: %w", err)
	}
	return nil
}

// write makes a file of the folder out of what fill writes.
func (f *runFolder) write(name string, fill func(io.Writer) error) error {
	path := filepath.Join(f.path, name)
	var content bytes.Buffer
	err := fill(&content)
	if err == nil {
		err = atomicwriter.WriteFile(path, content.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Errorf("train: %s: %w", path, err)
	}
	return nil
}

// runConfig is config.json: all that is needed to run the model or the training
// again.
type runConfig struct {
	Text       textSource                 `json:"text"`
	Vocabulary *train.Vocabulary          `json:"vocabulary"`
	Model      layers.LanguageModelConfig `json:"model"`
	Dtype      string                     `json:"dtype"`
	Batch      int                        `json:"batch"`
	Training   train.Config               `json:"training"` // its seed is that of the whole run
	NGram      train.NGram                `json:"ngram"`
}

func (r *trainRun) writeConfig() error {
	return r.folder.write("config.json", func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(runConfig{Text: r.corpus.source, Vocabulary: r.corpus.vocabulary, Model: r.config,
			Dtype: r.options.dtype, Batch: r.options.batch, Training: r.training, NGram: r.corpus.ngram})
	})
}

// save writes the model and the pictures. It tries each file, whatever the others
// give.
func (r *trainRun) save() error {
	f := r.folder
	return errors.Join(
		train.WriteParams(filepath.Join(f.path, "model.safetensors"), r.params, nil),
		f.write("loss.png", r.drawLoss),
		f.write("attention.png", r.drawWeights),
		f.close(),
	)
}
