package metrics

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"slices"

	"attention/internal/folder"
	"attention/internal/lines"
	"attention/train"
	"attention/train/loop"
)

// History is the steps and evaluations of a run.
type History struct {
	Steps       []train.StepResult
	Evaluations []loop.Evaluation
}

// evaluated returns the number of steps before the last evaluation, or 0.
func (h History) evaluated() int {
	if len(h.Evaluations) == 0 {
		return 0
	}
	return h.Evaluations[len(h.Evaluations)-1].Step
}

// Read reads the history in the metrics.jsonl of a run folder: all complete lines, even while the run trains. A folder
// without that file has an empty history.
func Read(dir string) (h History, err error) {
	for line, err := range NewTail(dir).Read(func() {}) {
		if err != nil {
			return h, err
		}
		h.add(line)
	}
	return h, nil
}

func (h *History) add(l Line) {
	if e, ok := l.Evaluation(); ok {
		h.Evaluations = append(h.Evaluations, e)
	} else {
		h.Steps = append(h.Steps, l.StepResult)
	}
}

// readUntil reads lines until the history contains the given number of steps and, if evaluated is not 0, the evaluation
// after that step. It returns the number of bytes read.
func (h *History) readUntil(r io.Reader, steps, evaluated int) (size int64, _ error) {
	reached := func() bool { return len(h.Steps) >= steps && h.evaluated() >= evaluated }
	if reached() {
		return 0, nil
	}
	unfit := func(text []byte) error {
		return fmt.Errorf("got %.100q, want the lines of %d steps, of which there are %d", text, steps, len(h.Steps))
	}
	var at lines.Place
	next := func(text []byte) (Line, error) {
		l, err := parse(text)
		if err != nil || !h.continues(l, steps) {
			err = unfit(text)
		}
		return l, err
	}
	for line, err := range lines.Read(r, &at, folder.MaxLine, next) {
		if err != nil {
			return 0, err
		}
		if h.add(line); reached() {
			return at.Size, nil
		}
	}
	return 0, fmt.Errorf("line %d: %w", at.Lines+1, unfit(nil))
}

// continues reports whether a line may follow the lines of the history in a run of the given number of steps. After
// each step there are at most two evaluations: one on random batches and one on all batches.
func (h *History) continues(l Line, steps int) bool {
	if _, ok := l.Evaluation(); ok {
		return l.Step == len(h.Steps) && len(h.Evaluations) < 2*(len(h.Steps)+1)
	}
	return l.Step == len(h.Steps)+1 && l.Step <= steps
}

// Until returns the part of the history up to a step.
func (h History) Until(step int) History {
	h.Steps = h.Steps[:min(step, len(h.Steps))]
	n := slices.IndexFunc(h.Evaluations, func(e loop.Evaluation) bool { return e.Step > step })
	if n >= 0 {
		h.Evaluations = h.Evaluations[:n]
	}
	return h
}

// Recent returns the mean loss and speed of the last RecentSteps steps.
func (h History) Recent() (loss, tokensPerSecond float64) {
	steps := h.Steps[max(0, len(h.Steps)-RecentSteps):]
	seconds := 0.0 // per token
	for _, s := range steps {
		loss += s.Loss / float64(len(steps))
		seconds += 1 / s.TokensPerSecond / float64(len(steps))
	}
	return loss, 1 / seconds
}

// RecentSteps is the number of steps over which a printed training loss is averaged.
const RecentSteps = 50

// Digest returns the SHA-256 of the numbers that equal runs share: all numbers except the speed.
func (h History) Digest() string {
	sum := sha256.New()
	add := func(step int, numbers ...float64) {
		b := binary.LittleEndian.AppendUint64(nil, uint64(step))
		for _, v := range numbers {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		sum.Write(b)
	}
	for i, s := range h.Steps {
		add(i+1, s.Loss, s.LearningRate, s.GradNorm)
	}
	for _, e := range h.Evaluations {
		add(e.Step, e.Loss)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
