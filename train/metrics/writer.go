package metrics

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"attention/internal/folder"
	"attention/internal/lines"
	"attention/internal/oneline"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"
)

// Writer writes metrics.jsonl and remembers the first error.
type Writer struct {
	lines *lines.Appender
	lost  error // an error that says that the file was changed from outside and written again
	err   error
}

// Begin makes the metrics.jsonl of a run folder.
func Begin(dir *folder.Dir) (*Writer, error) {
	a, err := lines.Append(dir, FileName, folder.MaxLine, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	return &Writer{lines: a}, nil
}

// Resume opens metrics.jsonl for appending after the lines of the first steps and of the evaluations up to the one
// after step evaluated. It truncates later lines, which training repeats, and returns the history of the lines that it
// keeps. If digest is not empty, it must be the digest of these lines.
func Resume(dir *folder.Dir, steps, evaluated int, digest string) (*Writer, History, error) {
	flag := 0
	if steps == 0 {
		flag = os.O_CREATE
	}
	var h History
	a, err := lines.Append(dir, FileName, folder.MaxLine, flag)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, h, fmt.Errorf("%s: got none, want the lines of %d steps", dir.Path(FileName), steps)
	}
	if err != nil {
		return nil, h, err
	}
	if err := h.resume(a, steps, evaluated, digest); err != nil {
		return nil, h, oneline.Join(fmt.Errorf("%s: %w", dir.Path(FileName), err), a.Close())
	}
	return &Writer{lines: a}, h, nil
}

// resume reads the lines that Resume keeps, and truncates the file behind them.
func (h *History) resume(a *lines.Appender, steps, evaluated int, digest string) error {
	size, err := h.readUntil(a.Content(), steps, evaluated)
	if err != nil {
		return err
	}
	if got := h.Digest(); digest != "" && got != digest {
		return fmt.Errorf("%w: the lines of the first %d steps: got numbers with SHA-256 %s, want the checkpoint's %s",
			checkpoint.ErrDamaged, steps, got, digest)
	}
	return a.Truncate(size)
}

// AddStep adds a step.
func (w *Writer) AddStep(s train.StepResult) { w.add(s) }

// AddEvaluation adds an evaluation over the given number of random batches, or over all batches if batches is 0.
func (w *Writer) AddEvaluation(e loop.Evaluation, batches int) { w.add(evaluation{e, batches}) }

// evaluation is the line of an evaluation.
type evaluation struct {
	loop.Evaluation
	Batches int `json:"batches,omitempty"`
}

func (w *Writer) add(line any) {
	if w.err == nil {
		w.keep(w.lines.Add(line))
	}
}

// keep stores an error, unless there was one before.
func (w *Writer) keep(err error) {
	if w.err == nil && err != nil {
		w.err = fmt.Errorf("train: metrics: %w", err)
	}
}

// Flush writes all lines to the disk, so that no checkpoint is newer than the lines of its steps.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.keep(w.lines.Sync())
	}
	return w.err
}

// Close closes the file and returns the first error, such as the error that the file was changed from outside and that
// Mend has written it again.
func (w *Writer) Close() error {
	if w.err == nil {
		w.keep(cmp.Or(w.lost, w.lines.Changed()))
	}
	w.keep(w.lines.Close())
	return w.err
}
