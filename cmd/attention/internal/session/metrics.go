package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"attention/internal/folder"
	"attention/internal/oneline"
	"attention/train"
	"attention/train/checkpoint"
)

// Metrics writes metrics.jsonl and keeps the first error.
type Metrics struct {
	dir  *folder.Dir
	file *os.File
	err  error
}

// BeginMetrics makes metrics.jsonl.
func (f *Folder) BeginMetrics() error {
	file, err := f.dir.Open(MetricsFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	f.Metrics = &Metrics{dir: f.dir, file: file}
	return nil
}

// ResumeMetrics opens metrics.jsonl for appending after the lines of so many steps and of the evaluations up to the one
// after step evaluated. It truncates later lines, which training repeats, and returns the history of the lines that it
// keeps. If digest is not empty, it must be theirs.
func (f *Folder) ResumeMetrics(steps, evaluated int, digest string) (History, error) {
	file, err := f.dir.Open(MetricsFile, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return History{}, err
	}
	h, err := resumeHistory(file, steps, evaluated, digest)
	if err != nil {
		return h, oneline.Join(fmt.Errorf("%s: %w", f.dir.Path(MetricsFile), err), file.Close())
	}
	f.Metrics = &Metrics{dir: f.dir, file: file}
	return h, nil
}

// resumeHistory reads the lines that ResumeMetrics keeps, and truncates the file behind them.
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

// ReadHistory reads the history of metrics.jsonl. A folder without that file has none.
func (f *Folder) ReadHistory() (h History, err error) {
	file, err := f.dir.Open(MetricsFile, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, err
	}
	defer file.Close()
	if h, err = readHistory(file); err != nil {
		return h, fmt.Errorf("%s: %w", f.dir.Path(MetricsFile), err)
	}
	return h, nil
}

// AddStep adds a step.
func (m *Metrics) AddStep(s train.StepResult) {
	m.add(s)
}

// AddEvaluation adds an evaluation over some random batches, or over all if batches is 0.
func (m *Metrics) AddEvaluation(e train.Evaluation, batches int) {
	m.add(struct {
		train.Evaluation
		Batches int `json:"batches,omitempty"`
	}{e, batches})
}

func (m *Metrics) add(line any) {
	if m.err == nil {
		m.keep(json.NewEncoder(m.file).Encode(line))
	}
}

// keep keeps an error, unless there was one before.
func (m *Metrics) keep(err error) {
	if m.err == nil && err != nil {
		m.err = fmt.Errorf("train: metrics: %w", err)
	}
}

// Flush writes all lines to the disk, so that no checkpoint is newer than the lines of its steps.
func (m *Metrics) Flush() error {
	if m.err == nil {
		m.keep(m.file.Sync())
	}
	return m.err
}

// Close closes the file and returns the first error, such as that the folder does not hold the file any more.
func (m *Metrics) Close() error {
	if m.err == nil && !m.dir.Holds(MetricsFile, m.file) {
		m.keep(fmt.Errorf("%s: got none or another file, want the one that the run writes: "+
			"it was removed or replaced during the run", m.dir.Path(MetricsFile)))
	}
	m.keep(m.file.Close())
	return m.err
}
