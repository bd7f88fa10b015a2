package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"attention/internal/folder"
	"attention/internal/oneline"
	"attention/train"
)

// Tail reads metrics.jsonl while it grows, each line once.
type Tail struct {
	path string
	at   int64 // bytes read, of whole lines
}

// NewTail returns a reader of the metrics of a run folder, from the beginning.
func NewTail(dir string) *Tail { return &Tail{path: filepath.Join(dir, MetricsFile)} }

// Read calls step and eval for the lines that have come since the last call. A run that resumes may repeat steps; the
// file begins anew if it has become shorter, which Read reports. A file that does not exist yet has no lines.
func (t *Tail) Read(step func(train.StepResult), eval func(train.Evaluation)) (anew bool, err error) {
	file, err := folder.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { err = oneline.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	if anew = info.Size() < t.at; anew {
		t.at = 0
	}
	if _, err := file.Seek(t.at, io.SeekStart); err != nil {
		return anew, err
	}
	for lines := newLineReader(file); ; {
		text, err := lines.next()
		if err != nil || len(text) == 0 || text[len(text)-1] != '\n' { // the last line may be cut
			return anew, err
		}
		var line metricLine
		if err := json.Unmarshal(text, &line); err != nil {
			return anew, fmt.Errorf("%s: %w", t.path, err)
		}
		t.at += int64(len(text))
		if line.ValidationLoss != nil {
			eval(train.Evaluation{Step: line.Step, Loss: *line.ValidationLoss})
			continue
		}
		step(train.StepResult{Step: line.Step, Loss: line.Loss, LearningRate: line.LearningRate, GradNorm: line.GradNorm,
			TokensPerSecond: line.TokensPerSecond})
	}
}

// StateOf returns the state of a run folder by its report and its lock, and the error that the last session ended with.
func StateOf(dir string) (state, wrong string, r Report, err error) {
	r, err = ReadReport(dir)
	running := folder.Locked(filepath.Join(dir, CheckpointsFolder))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		state, err = unfinished, nil
	case err != nil:
		return "", "", r, err
	case len(r.Sessions) > 0:
		state, wrong = r.Session().State, r.Session().Error
	}
	if running && state == unfinished {
		state = Running
	}
	return state, wrong, r, nil
}
