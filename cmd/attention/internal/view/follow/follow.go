// Package follow reads the recording of a run, during and after the training: its losses, its state, and the changes of
// its weights. It only reads the run's folder, so it does not change the run.
package follow

import (
	"cmp"
	"fmt"
	"os"
	"sync"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/session"
	"attention/train"
	"attention/train/loop"
	"attention/train/metrics"
)

// Run reads a run's folder again and again.
type Run struct {
	Name string
	dir  string

	mu          sync.Mutex
	tail        *metrics.Tail
	state       State
	stale       bool           // whether the config must be read again
	sessions    int            // time of the report when it was read
	ngram       session.Losses // of counting
	steps       thinned[train.StepResult]
	evaluations thinned[loop.Evaluation]
	version     int // version of the state; it counts changes

	recorded recorded

	from     time.Time // time of the first look at a run that trains
	fromStep int       // the last step at that time
}

// State is the state of a run as its files show it. Of a long run it has only some steps, at regular intervals.
type State struct {
	Name        string             `json:"name"`
	State       string             `json:"state"` // running, finished, stopped, failed or unfinished
	Error       string             `json:"error,omitempty"`
	Text        string             `json:"text"`
	Model       string             `json:"model"`
	Command     string             `json:"command"` // command that made the run: train, finetune or translate
	Planned     int                `json:"planned"`
	Losses      session.Losses     `json:"losses"`
	Samples     []Sample           `json:"samples"`
	Steps       []train.StepResult `json:"steps"`
	Evaluations []loop.Evaluation  `json:"evaluations"`
	SecondsLeft float64            `json:"secondsLeft,omitempty"` // time left at the present speed; 0 if it is not known
	Version     int                `json:"version"`
}

// Sample is the text of a session.
type Sample struct {
	Step int `json:"step"`
	session.Sample
}

// Open begins to follow the run in a folder.
func Open(dir string) (*Run, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s: got a file, want the folder of a run", dir)
	}
	r := &Run{Name: models.Name(dir), dir: dir, tail: metrics.NewTail(dir), recorded: newRecorded(dir)}
	if err := r.readConfig(); err != nil {
		return nil, err
	}
	return r, r.Update()
}

// readConfig reads the config, which changes only when the run is resumed or replaced by another.
func (r *Run) readConfig() error {
	s, err := session.Summarize(r.dir)
	if err != nil {
		return err
	}
	r.state.Name, r.state.Text, r.state.Model, r.state.Planned = r.Name, s.Text, s.Model, s.Planned
	r.state.Command = s.Command
	r.stale, r.sessions = false, len(s.Sessions)
	r.ngram = session.Losses{Bigram: s.Losses.Bigram, Unigram: s.Losses.Unigram}
	return nil
}

// Update reads the lines that the run has written since the last call. After an error the state includes the lines
// before the wrong one.
func (r *Run) Update() (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed, before := r.version == 0, r.state.State
	defer func() {
		if changed || r.state.State != before {
			r.version++
		}
	}()
	state, wrong, report, err := session.StateOf(r.dir)
	if err != nil {
		return err
	}
	r.stale = r.stale || len(report.Sessions) != r.sessions
	read, err := r.readMetrics()
	changed = changed || read
	if err != nil {
		return err
	}
	if r.stale {
		if err := r.readConfig(); err != nil {
			return err
		}
		changed = true
	}
	r.state.State, r.state.Error, r.state.Losses = state, wrong, report.Losses
	r.state.Losses.Bigram = cmp.Or(report.Losses.Bigram, r.ngram.Bigram) // a running training has not reported them yet
	r.state.Losses.Unigram = cmp.Or(report.Losses.Unigram, r.ngram.Unigram)
	r.measure()
	r.state.Samples = nil
	for _, s := range report.Sessions {
		if s.Sample != nil {
			r.state.Samples = append(r.state.Samples, Sample{s.To, *s.Sample})
		}
	}
	return nil
}

// readMetrics reads the new lines of the metrics and reports whether there are some.
func (r *Run) readMetrics() (changed bool, err error) {
	anew := func() {
		changed, r.stale = true, true
		r.steps, r.evaluations = thinned[train.StepResult]{}, thinned[loop.Evaluation]{}
	}
	for line, err := range r.tail.Read(anew) {
		if err != nil {
			return changed, err
		}
		changed = true
		e, ok := line.Evaluation()
		if !ok {
			r.steps.add(line.StepResult)
		} else if last, ok := r.evaluations.end(); ok && last.Step == e.Step { // over the whole text, after random batches
			r.evaluations.setEnd(e)
		} else {
			r.evaluations.add(e)
		}
	}
	return changed, nil
}

// measure estimates the time left from the steps since the first look at a run that trains.
func (r *Run) measure() {
	now, last := program.Now(), r.lastStep()
	if r.state.State != session.Running {
		r.from, r.state.SecondsLeft = time.Time{}, 0
		return
	}
	if r.from.IsZero() || last < r.fromStep {
		r.from, r.fromStep, r.state.SecondsLeft = now, last, 0
	}
	if done := last - r.fromStep; done > 0 {
		r.state.SecondsLeft = now.Sub(r.from).Seconds() / float64(done) * float64(r.state.Planned-last)
	}
}

// lastStep returns the number of the last step.
func (r *Run) lastStep() int {
	step, _ := r.steps.end()
	return step.Step
}

// Version returns a number that changes with the state.
func (r *Run) Version() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.version
}

// Stage returns the State of the State: running, finished, stopped, failed or unfinished.
func (r *Run) Stage() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.State
}

// State returns the state of the run.
func (r *Run) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.state
	s.Version = r.version
	s.Steps = append([]train.StepResult{}, r.steps.kept...) // not null in JSON
	s.Evaluations = append([]loop.Evaluation{}, r.evaluations.kept...)
	return s
}
