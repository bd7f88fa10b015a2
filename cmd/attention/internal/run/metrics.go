package run

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"attention/internal/folder"
	"attention/internal/oneline"
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

// ResumeMetrics opens metrics.jsonl for appending after the lines of the given steps and of the evaluations up to the
// one after step evaluated. It truncates later lines, which training repeats, and returns the history of the others.
// If digest is not empty, it must be theirs.
func (f *Folder) ResumeMetrics(steps, evaluated int, digest string) (h History, err error) {
	file, err := f.dir.Open(MetricsFile, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return h, err
	}
	size, err := h.read(file, steps, evaluated)
	if got := h.Digest(); err == nil && digest != "" && got != digest {
		err = fmt.Errorf("%w: the lines of the first %d steps: got numbers with SHA-256 %s, want %s, that of the checkpoint",
			train.ErrDamaged, steps, got, digest)
	}
	if err == nil {
		err = file.Truncate(size)
	}
	if err == nil {
		_, err = file.Seek(size, io.SeekStart)
	}
	if err != nil {
		return h, oneline.Join(fmt.Errorf("%s: %w", f.dir.Path(MetricsFile), err), file.Close())
	}
	f.Metrics = &Metrics{dir: f.dir, file: file}
	return h, nil
}

// lineReader reads lines of at most folder.MaxLine bytes.
type lineReader struct{ *bufio.Reader }

func newLineReader(r io.Reader) lineReader { return lineReader{bufio.NewReaderSize(r, folder.MaxLine)} }

// next returns the next line with its end, which the last one may lack; nothing at the end of the file. It is valid
// until the next call.
func (r lineReader) next() ([]byte, error) {
	text, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, io.EOF):
		err = nil
	case errors.Is(err, bufio.ErrBufferFull):
		err = fmt.Errorf("got more than %d bytes, want a shorter line", folder.MaxLine)
	}
	return text, err
}

// read reads lines until it has the steps and, if evaluated is not 0, the evaluation after that step. It returns the
// number of bytes read.
func (h *History) read(r io.Reader, steps, evaluated int) (size int64, err error) {
	lines := newLineReader(r)
	for n := 1; len(h.Steps) < steps || h.evaluated() < evaluated; n++ {
		text, err := lines.next()
		if err != nil {
			return 0, fmt.Errorf("line %d: %w", n, err)
		}
		var line metricLine
		mostEvaluations := 2 * (len(h.Steps) + 1) // after each number of steps: of random batches and of all
		switch err := json.Unmarshal(text, &line); {
		case err == nil && line.ValidationLoss != nil && line.Step == len(h.Steps) && len(h.Evaluations) < mostEvaluations:
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

// StepsTaken returns the number of steps with a line in metrics.jsonl. The last line may be cut.
func (f *Folder) StepsTaken() (n int, err error) {
	file, err := f.dir.Open(MetricsFile, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	lines := newLineReader(file)
	for i := 1; ; i++ {
		text, err := lines.next()
		var line metricLine
		if err == nil {
			err = json.NewDecoder(bytes.NewReader(text)).Decode(&line)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return n, nil
		}
		if err != nil {
			return n, fmt.Errorf("%s: line %d: %w", f.dir.Path(MetricsFile), i, err)
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
