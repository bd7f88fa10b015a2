package metrics

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"attention/internal/folder"
	"attention/internal/oneline"
	"attention/train"
	"attention/train/checkpoint"
)

// Writer writes metrics.jsonl and keeps the first error.
type Writer struct {
	dir  *folder.Dir
	file *os.File
	err  error
}

// Begin makes the metrics.jsonl of a run folder.
func Begin(dir *folder.Dir) (*Writer, error) {
	file, err := dir.Open(FileName, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	return &Writer{dir: dir, file: file}, nil
}

// Resume opens metrics.jsonl for appending after the lines of so many steps and of the evaluations up to the one after
// step evaluated. It truncates later lines, which training repeats, and returns the history of the lines that it keeps.
// If digest is not empty, it must be theirs.
func Resume(dir *folder.Dir, steps, evaluated int, digest string) (*Writer, History, error) {
	file, err := dir.Open(FileName, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, History{}, err
	}
	h, err := resumeHistory(file, steps, evaluated, digest)
	if err != nil {
		return nil, h, oneline.Join(fmt.Errorf("%s: %w", dir.Path(FileName), err), file.Close())
	}
	return &Writer{dir: dir, file: file}, h, nil
}

// resumeHistory reads the lines that Resume keeps, and truncates the file behind them.
func resumeHistory(file *os.File, steps, evaluated int, digest string) (h History, err error) {
	size, err := h.readUntil(file, steps, evaluated)
	if err != nil {
		return h, err
	}
	if got := h.Digest(); digest != "" && got != digest {
		return h, fmt.Errorf("%w: the lines of the first %d steps: got numbers with SHA-256 %s, want the checkpoint's %s",
			checkpoint.ErrDamaged, steps, got, digest)
	}
	if err := file.Truncate(size); err != nil {
		return h, err
	}
	_, err = file.Seek(size, io.SeekStart)
	return h, err
}

// AddStep adds a step.
func (w *Writer) AddStep(s train.StepResult) {
	w.add(s)
}

// AddEvaluation adds an evaluation over some random batches, or over all if batches is 0.
func (w *Writer) AddEvaluation(e train.Evaluation, batches int) {
	w.add(struct {
		train.Evaluation
		Batches int `json:"batches,omitempty"`
	}{e, batches})
}

func (w *Writer) add(line any) {
	if w.err == nil {
		w.keep(json.NewEncoder(w.file).Encode(line))
	}
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

// Close closes the file and returns the first error, such as that the folder does not hold the file any more.
func (w *Writer) Close() error {
	if w.err == nil && !w.dir.Holds(FileName, w.file) {
		w.keep(fmt.Errorf("%s: got none or another file, want the one that the run writes: "+
			"it was removed or replaced during the run", w.dir.Path(FileName)))
	}
	w.keep(w.file.Close())
	return w.err
}
