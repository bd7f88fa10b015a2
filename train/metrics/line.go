// Package metrics writes and reads metrics.jsonl, the steps and evaluations of a run: a line for each, a JSON object.
// Two runs with the same bits have the same lines except for tokens_per_second.
package metrics

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"

	"attention/internal/folder"
	"attention/internal/lines"
	"attention/train"
	"attention/train/loop"
)

// FileName is the name of the file in the folder of a run.
const FileName = "metrics.jsonl"

// Line is a line of metrics.jsonl: an evaluation if it has a validation loss, otherwise a step.
type Line struct {
	train.StepResult
	ValidationLoss *float64 `json:"validation_loss"`
}

// Evaluation returns the evaluation of a line; ok is false for the line of a step.
func (l Line) Evaluation() (e loop.Evaluation, ok bool) {
	if l.ValidationLoss == nil {
		return e, false
	}
	return loop.Evaluation{Step: l.Step, Loss: *l.ValidationLoss}, true
}

func parse(text []byte) (l Line, err error) {
	if json.Unmarshal(text, &l) != nil {
		err = fmt.Errorf("got %.50q, want a JSON object of numbers", text)
	}
	return l, err
}

// Tail reads metrics.jsonl while it grows, each line once.
type Tail struct {
	path string
	at   lines.Place
}

// NewTail returns a reader of the metrics of a run folder, from the beginning.
func NewTail(dir string) *Tail { return &Tail{path: filepath.Join(dir, FileName)} }

// Read yields the lines that were added since the last call. If lines that it has read are gone, because the run was
// resumed from an earlier checkpoint or replaced by another run, Read calls anew and starts again at the first line. A
// file that does not exist yet has no lines, and a last line without a newline is not read yet. An error is the last
// element.
func (t *Tail) Read(anew func()) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for line, err := range lines.ReadFile(t.path, &t.at, folder.MaxLine, anew, parse) {
			if errors.Is(err, fs.ErrNotExist) || !yield(line, err) {
				return
			}
		}
	}
}
