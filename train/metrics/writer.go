package metrics

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"attention/internal/folder"
	"attention/internal/oneline"
	"attention/train"
	"attention/train/checkpoint"
)

// Writer writes metrics.jsonl and keeps the first error.
type Writer struct {
	dir  *folder.Dir
	file *os.File // opened for appending, so that a file that somebody cuts has no gaps
	size int64    // of the file as it was written
	lost error    // that the file was not as it was written, and is written anew
	err  error
}

// Begin makes the metrics.jsonl of a run folder.
func Begin(dir *folder.Dir) (*Writer, error) {
	file, err := dir.Open(FileName, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	return &Writer{dir: dir, file: file}, nil
}

// Resume opens metrics.jsonl for appending after the lines of the first steps and of the evaluations up to the one after
// step evaluated. It truncates later lines, which training repeats, and returns the history of the lines that it keeps.
// If digest is not empty, it must be theirs.
func Resume(dir *folder.Dir, steps, evaluated int, digest string) (*Writer, History, error) {
	flags := os.O_RDWR | os.O_APPEND
	if steps == 0 {
		flags |= os.O_CREATE
	}
	file, err := dir.Open(FileName, flags)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, History{}, fmt.Errorf("%s: got none, want the lines of %d steps", dir.Path(FileName), steps)
	}
	if err != nil {
		return nil, History{}, err
	}
	h, size, err := resumeHistory(file, steps, evaluated, digest)
	if err != nil {
		return nil, h, oneline.Join(fmt.Errorf("%s: %w", dir.Path(FileName), err), file.Close())
	}
	return &Writer{dir: dir, file: file, size: size}, h, nil
}

// resumeHistory reads the lines that Resume keeps, and truncates the file behind them.
func resumeHistory(file *os.File, steps, evaluated int, digest string) (h History, size int64, err error) {
	if size, err = h.readUntil(file, steps, evaluated); err != nil {
		return h, 0, err
	}
	if got := h.Digest(); digest != "" && got != digest {
		return h, 0, fmt.Errorf("%w: the lines of the first %d steps: got numbers with SHA-256 %s, want the checkpoint's %s",
			checkpoint.ErrDamaged, steps, got, digest)
	}
	return h, size, file.Truncate(size)
}

// AddStep adds a step.
func (w *Writer) AddStep(s train.StepResult) { w.add(s) }

// AddEvaluation adds an evaluation over some random batches, or over all if batches is 0.
func (w *Writer) AddEvaluation(e train.Evaluation, batches int) { w.add(evaluation{e, batches}) }

// evaluation is the line of an evaluation.
type evaluation struct {
	train.Evaluation
	Batches int `json:"batches,omitempty"`
}

func (w *Writer) add(line any) {
	if w.err != nil {
		return
	}
	text, err := json.Marshal(line)
	if err != nil {
		w.keep(err)
		return
	}
	n, err := w.file.Write(append(text, '\n'))
	w.size += int64(n)
	w.keep(err)
}

// keep keeps an error, unless there was one before.
func (w *Writer) keep(err error) {
	if w.err == nil && err != nil {
		w.err = fmt.Errorf("train: metrics: %w", err)
	}
}

// Flush writes all lines to the disk, so that no checkpoint is newer than the lines of its steps.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.keep(w.file.Sync())
	}
	return w.err
}

// Close closes the file and returns the first error, such as that the file was not as it was written, and that Mend has
// written it anew.
func (w *Writer) Close() error {
	if w.err == nil {
		w.keep(cmp.Or(w.lost, w.changed()))
	}
	w.keep(w.file.Close())
	return w.err
}
