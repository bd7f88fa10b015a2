package main

import (
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

// newRunFolder makes the folder, or the first free one of runs/1, runs/2, … A
// folder with files in it is refused: nothing of another run is overwritten.
func newRunFolder(path string) (*runFolder, error) {
	if path == "" {
		for i := 1; ; i++ {
			path = filepath.Join("runs", strconv.Itoa(i))
			if _, err := os.Stat(path); os.IsNotExist(err) {
				break
			}
		}
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	files, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	if len(files) > 0 {
		return nil, fmt.Errorf("--out: %s: got a folder with %d files, want a new or empty one", path, len(files))
	}
	metrics, err := os.Create(filepath.Join(path, "metrics.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	return &runFolder{path: path, metrics: metrics}, nil
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

// write makes a file of the folder out of what fill writes.
func (f *runFolder) write(name string, fill func(io.Writer) error) error {
	w, err := atomicwriter.New(filepath.Join(f.path, name), 0o644)
	if err != nil {
		return err
	}
	if err := fill(w); err != nil {
		// Closing after a failed write removes the file beside; its error is err's.
		_ = w.Close()
		return fmt.Errorf("%s: %w", name, err)
	}
	return w.Close()
}

// runConfig is config.json: all that is needed to run the model or the training
// again.
type runConfig struct {
	Text       textSource                 `json:"text"`
	Vocabulary *train.Vocabulary          `json:"vocabulary"`
	Model      layers.LanguageModelConfig `json:"model"`
	Dtype      string                     `json:"dtype"`
	Batch      int                        `json:"batch"`
	Seed       int64                      `json:"seed"`
	Training   train.Config               `json:"training"`
	NGram      train.NGram                `json:"ngram"`
}

func (r *trainRun) writeConfig() error {
	return r.folder.write("config.json", func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(runConfig{Text: r.corpus.source, Vocabulary: r.corpus.vocabulary, Model: r.config,
			Dtype: r.options.dtype, Batch: r.options.batch, Seed: r.options.seed, Training: r.loop, NGram: r.corpus.ngram})
	})
}

// save writes the model and the pictures.
func (r *trainRun) save(w io.Writer) error {
	f := r.folder
	if err := train.WriteParams(filepath.Join(f.path, "model.safetensors"), r.params, nil); err != nil {
		return err
	}
	if err := f.write("loss.png", r.drawLoss); err != nil {
		return err
	}
	if err := f.write("attention.png", r.drawWeights); err != nil {
		return err
	}
	if err := errors.Join(f.err, f.metrics.Close()); err != nil {
		return err
	}
	files, err := os.ReadDir(f.path)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s holds", f.path)
	for _, file := range files {
		fmt.Fprintf(w, " %s", file.Name())
	}
	fmt.Fprintln(w)
	return nil
}
