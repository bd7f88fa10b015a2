package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"

	"attention/internal/folder"
	"attention/internal/oneline"
	"attention/train"
)

// Tail reads metrics.jsonl while it grows, each line once.
type Tail struct {
	path string
	at   int64  // bytes read, of whole lines
	last []byte // the last of them
}

// NewTail returns a reader of the metrics of a run folder, from the beginning.
func NewTail(dir string) *Tail { return &Tail{path: filepath.Join(dir, MetricsFile)} }

// Read calls step and eval for the lines that have come since the last call. If lines that it has read are gone, since
// the run was resumed from an earlier checkpoint or another one is in its place, it calls anew and begins again. A file
// that does not exist yet has no lines.
func (t *Tail) Read(anew func(), step func(train.StepResult), eval func(train.Evaluation)) (err error) {
	file, err := folder.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		if t.at > 0 {
			t.at, t.last = 0, nil
			anew()
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = oneline.Join(err, file.Close()) }()
	if same, err := t.continues(file); err != nil {
		return err
	} else if !same {
		t.at, t.last = 0, nil
		anew()
	}
	return t.readLines(io.NewSectionReader(file, t.at, math.MaxInt64-t.at), step, eval)
}

// continues reports whether the file holds the last line that was read, at its place.
func (t *Tail) continues(file io.ReaderAt) (bool, error) {
	there := make([]byte, len(t.last))
	if _, err := file.ReadAt(there, t.at-int64(len(t.last))); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return bytes.Equal(there, t.last), nil
}

func (t *Tail) readLines(r io.Reader, step func(train.StepResult), eval func(train.Evaluation)) error {
	for lines := newLineReader(r); ; {
		text, err := lines.next()
		if err != nil || len(text) == 0 || text[len(text)-1] != '\n' { // the last line may be cut
			return err
		}
		var line metricLine
		if err := json.Unmarshal(text, &line); err != nil {
			return fmt.Errorf("%s: got the line %.50q, want a JSON object of numbers", t.path, text)
		}
		t.at, t.last = t.at+int64(len(text)), append(t.last[:0], text...)
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
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", "", r, err
	case len(r.Sessions) == 0:
		state = unfinished
	default:
		state, wrong = r.Session().State, r.Session().Error
	}
	if running && state == unfinished {
		state = Running
	}
	return state, wrong, r, nil
}
