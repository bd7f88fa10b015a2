package run

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"attention/train"
)

// A stepLine is the line of a step in metrics.jsonl. Step counts the step itself.
type stepLine struct {
	Step            int     `json:"step"`
	Loss            float64 `json:"loss"`
	LearningRate    float64 `json:"learning_rate"`
	GradNorm        float64 `json:"grad_norm"`
	TokensPerSecond float64 `json:"tokens_per_second"`
}

// An evaluationLine is the line of an evaluation after Step steps.
type evaluationLine struct {
	Step           int     `json:"step"`
	ValidationLoss float64 `json:"validation_loss"`
	Batches        int     `json:"batches,omitempty"` // random ones; 0 means the whole validation split
}

// A metricLine is a line of either kind: that of a step has no validation loss.
type metricLine struct {
	stepLine
	ValidationLoss *float64 `json:"validation_loss"`
}

// Metrics writes metrics.jsonl and keeps the first error.
type Metrics struct {
	file *os.File
	err  error
}

// NewMetrics makes metrics.jsonl in a run folder.
func NewMetrics(folder string) (*Metrics, error) {
	f, err := os.OpenFile(filepath.Join(folder, MetricsFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	return &Metrics{file: f}, nil
}

// ResumeMetrics opens metrics.jsonl for appending after the lines of the given steps and of the evaluations up to the
// one after step evaluated. It truncates later lines, which training repeats, and returns the history of the others.
func ResumeMetrics(folder string, steps, evaluated int) (m *Metrics, h History, err error) {
	path := filepath.Join(folder, MetricsFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, h, err
	}
	size, err := h.read(f, steps, evaluated)
	if err == nil {
		err = f.Truncate(size)
	}
	if err == nil {
		_, err = f.Seek(size, io.SeekStart)
	}
	if err != nil {
		return nil, h, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return &Metrics{file: f}, h, nil
}

// read reads lines until it has the steps and, if evaluated is not 0, the evaluation after that step. It returns the
// number of bytes read.
func (h *History) read(r io.Reader, steps, evaluated int) (size int64, err error) {
	lines := bufio.NewReader(r)
	for n := 1; len(h.Steps) < steps || h.evaluated() < evaluated; n++ {
		text, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		var line metricLine
		switch err := json.Unmarshal(text, &line); {
		case err == nil && line.ValidationLoss != nil && line.Step == len(h.Steps):
			h.Evaluations = append(h.Evaluations, train.Evaluation{Step: line.Step, Loss: *line.ValidationLoss})
		case err == nil && line.ValidationLoss == nil && line.Step == len(h.Steps)+1 && line.Step <= steps:
			h.Steps = append(h.Steps, train.StepResult{Step: line.Step, Loss: line.Loss, LearningRate: line.LearningRate,
				GradNorm: line.GradNorm, TokensPerSecond: line.TokensPerSecond})
		default:
			return 0, fmt.Errorf("line %d: got %.100q, want the lines of %d steps, of which there are %d",
				n, text, steps, len(h.Steps))
		}
		size += int64(len(text))
	}
	return size, nil
}

// StepsTaken returns the number of steps with a line in the metrics.jsonl of a run folder. The last line may be cut.
func StepsTaken(folder string) (n int, err error) {
	f, err := os.Open(filepath.Join(folder, MetricsFile))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	dec := json.NewDecoder(f)
	for {
		var line metricLine
		err := dec.Decode(&line)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return n, nil
		}
		if err != nil {
			return n, fmt.Errorf("%s: %w", f.Name(), err)
		}
		if line.ValidationLoss == nil {
			n++
		}
	}
}

// AddStep adds a step.
func (m *Metrics) AddStep(s train.StepResult) {
	m.add(stepLine{s.Step, s.Loss, s.LearningRate, s.GradNorm, s.TokensPerSecond})
}

// AddEvaluation adds an evaluation over some random batches, or over all if batches is 0.
func (m *Metrics) AddEvaluation(e train.Evaluation, batches int) {
	m.add(evaluationLine{e.Step, e.Loss, batches})
}

func (m *Metrics) add(line any) {
	if m.err == nil {
		m.err = json.NewEncoder(m.file).Encode(line)
	}
}

// Flush writes all lines to the disk, so that no checkpoint is newer than the lines of its steps.
func (m *Metrics) Flush() error {
	if m.err == nil {
		m.err = m.file.Sync()
	}
	return m.failed(m.err)
}

// Close closes the file and returns the first error.
func (m *Metrics) Close() error { return m.failed(errors.Join(m.err, m.file.Close())) }

func (m *Metrics) failed(err error) error {
	if err != nil {
		return fmt.Errorf("train: metrics: %w", err)
	}
	return nil
}
