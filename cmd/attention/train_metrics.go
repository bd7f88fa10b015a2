package main

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

// metrics.jsonl has a line for every step and for every validation. A line says how
// many steps were taken, that of a step counting its own.
// Files of a run folder.
const (
	metricsName = "metrics.jsonl"
	modelName   = "model.safetensors"
)

type stepLine struct {
	Step            int     `json:"step"`
	Loss            float64 `json:"loss"`
	LearningRate    float64 `json:"learning_rate"`
	GradNorm        float64 `json:"grad_norm"`
	TokensPerSecond float64 `json:"tokens_per_second"`
}

type evaluationLine struct {
	Step           int     `json:"step"`
	ValidationLoss float64 `json:"validation_loss"`
	Batches        int     `json:"batches,omitempty"` // random ones that it is over; 0 means the whole validation split
}

// metrics writes metrics.jsonl and keeps the first error.
type metrics struct {
	file *os.File
	err  error
}

// newMetrics begins the file.
func newMetrics(folder string) (*metrics, error) {
	f, err := os.OpenFile(filepath.Join(folder, metricsName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	return &metrics{file: f}, nil
}

// resumeMetrics goes on with the file behind the lines of so many steps and of the
// evaluations up to the one after so many steps. It cuts off what lies behind, which
// will come again, and returns what the lines say.
func resumeMetrics(folder string, steps, evaluated int) (m *metrics, h history, err error) {
	path := filepath.Join(folder, metricsName)
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
	return &metrics{file: f}, h, nil
}

// read reads lines until it has so many steps and the evaluation after so many, if
// there was one, and returns how many bytes that took.
func (h *history) read(r io.Reader, steps, evaluated int) (size int64, err error) {
	lines := bufio.NewReader(r)
	for n := 1; len(h.steps) < steps || h.evaluated() < evaluated; n++ {
		text, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		var line struct {
			stepLine
			ValidationLoss *float64 `json:"validation_loss"`
		}
		switch err := json.Unmarshal(text, &line); {
		case err == nil && line.ValidationLoss != nil && line.Step == len(h.steps):
			h.evaluations = append(h.evaluations, train.Evaluation{Step: line.Step, Loss: *line.ValidationLoss})
		case err == nil && line.ValidationLoss == nil && line.Step == len(h.steps)+1 && line.Step <= steps:
			h.steps = append(h.steps, train.Step{N: line.Step - 1, Loss: line.Loss, LearningRate: line.LearningRate,
				GradNorm: line.GradNorm, TokensPerSecond: line.TokensPerSecond})
		default:
			return 0, fmt.Errorf("line %d: got %.100q, want the lines of %d steps, of which there are %d", n, text, steps, len(h.steps))
		}
		size += int64(len(text))
	}
	return size, nil
}

func (m *metrics) addStep(s train.Step) {
	m.add(stepLine{s.N + 1, s.Loss, s.LearningRate, s.GradNorm, s.TokensPerSecond})
}

// addEvaluation adds an evaluation over so many random batches, or 0 for all.
func (m *metrics) addEvaluation(e train.Evaluation, batches int) {
	m.add(evaluationLine{e.Step, e.Loss, batches})
}

func (m *metrics) add(line any) {
	if m.err == nil {
		m.err = json.NewEncoder(m.file).Encode(line)
	}
}

// flush sees to it that a checkpoint is not newer than the lines of its steps.
func (m *metrics) flush() error {
	if m.err == nil {
		m.err = m.file.Sync()
	}
	return m.failed(m.err)
}

// close returns the first error that there was.
func (m *metrics) close() error { return m.failed(errors.Join(m.err, m.file.Close())) }

func (m *metrics) failed(err error) error {
	if err != nil {
		return fmt.Errorf("train: metrics: %w", err)
	}
	return nil
}
