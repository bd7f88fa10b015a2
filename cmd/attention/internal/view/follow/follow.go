// Package follow reads what a run records, while it trains or afterwards: its losses, its state, and how its weights
// moved. It reads the run's folder only, so that looking changes nothing of the run.
package follow

import (
	"cmp"
	"fmt"
	"os"
	"sync"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run"
	"attention/train"
)

// Run is a run that is followed.
type Run struct {
	Name string
	dir  string

	mu          sync.Mutex
	tail        *run.Tail
	state       State
	stale       bool                      // whether the config is to be read anew
	sessions    int                       // of the report when it was read
	ngram       run.Losses                // of counting
	steps       thinned[train.StepResult] // of a long run some
	evaluations thinned[train.Evaluation]
	version     int // of the state; counts its changes

	from     time.Time // when the first look was, of a run that trains
	fromStep int       // the last step then
}

// State is what is known of a run. Of a long run only some steps are kept, evenly spread.
type State struct {
	Name        string      `json:"name"`
	State       string      `json:"state"` // running, finished, stopped, failed or unfinished
	Error       string      `json:"error,omitempty"`
	Text        string      `json:"text"`
	Model       string      `json:"model"`
	Translates  bool        `json:"translates,omitempty"` // a run of attention translate
	Planned     int         `json:"planned"`
	Losses      run.Losses  `json:"losses"`
	Samples     []Sample    `json:"samples"`
	Curves      Curves      `json:"curves"`
	Evaluations Evaluations `json:"evaluations"`
	SecondsLeft float64     `json:"secondsLeft,omitempty"` // as fast as now; 0 if it is not known
	Version     int         `json:"version"`
}

// Curves are the steps as columns.
type Curves struct {
	Step            []int     `json:"step"`
	Loss            []float64 `json:"loss"`
	LearningRate    []float64 `json:"rate"`
	GradNorm        []float64 `json:"gradient"`
	TokensPerSecond []float64 `json:"speed"`
}

// Evaluations are the validations as columns.
type Evaluations struct {
	Step []int     `json:"step"`
	Loss []float64 `json:"loss"`
}

// Sample is the text of a session.
type Sample struct {
	Step int `json:"step"`
	run.Sample
}

// Open begins to follow the run in a folder.
func Open(dir string) (*Run, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s: got a file, want the folder of a run", dir)
	}
	r := &Run{Name: (&run.Folder{Path: dir}).Name(), dir: dir, tail: run.NewTail(dir)}
	if err := r.readConfig(); err != nil {
		return nil, err
	}
	return r, r.Update()
}

// readConfig reads what stays as it is until the run is resumed or another one is in its place.
func (r *Run) readConfig() error {
	s, err := run.Summarize(r.dir)
	if err != nil {
		return err
	}
	r.state.Name, r.state.Text, r.state.Model, r.state.Planned = r.Name, s.Text, s.Model, s.Planned
	r.state.Translates = s.Title == run.DatesModel
	r.stale, r.sessions = false, len(s.Sessions)
	r.ngram = run.Losses{Bigram: s.Losses.Bigram, Unigram: s.Losses.Unigram}
	return nil
}

// Update reads what is new. After an error the lines before the one at fault are part of the state.
func (r *Run) Update() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed, err := r.update()
	if changed {
		r.version++
	}
	return err
}

// update reads what is new and reports whether anything is, also before an error.
func (r *Run) update() (changed bool, err error) {
	before := r.state.State
	state, wrong, report, err := run.StateOf(r.dir)
	if err != nil {
		return false, err
	}
	r.stale = r.stale || len(report.Sessions) != r.sessions
	if changed, err = r.readMetrics(); err != nil {
		return changed, err
	}
	if r.stale {
		if err := r.readConfig(); err != nil {
			return changed, err
		}
		changed = true
	}
	r.state.State, r.state.Error, r.state.Losses = state, wrong, report.Losses
	r.state.Losses.Bigram = cmp.Or(report.Losses.Bigram, r.ngram.Bigram) // a run that trains has not reported them yet
	r.state.Losses.Unigram = cmp.Or(report.Losses.Unigram, r.ngram.Unigram)
	r.measure()
	r.state.Samples = nil
	for _, s := range report.Sessions {
		if s.Sample != nil {
			r.state.Samples = append(r.state.Samples, Sample{s.To, *s.Sample})
		}
	}
	return changed || r.version == 0 || state != before, nil
}

// readMetrics reads the new lines of the metrics and reports whether there were some.
func (r *Run) readMetrics() (changed bool, err error) {
	anew := func() {
		changed, r.stale = true, true
		r.steps, r.evaluations = thinned[train.StepResult]{}, thinned[train.Evaluation]{}
	}
	step := func(s train.StepResult) {
		changed = true
		r.steps.add(s)
	}
	evaluation := func(e train.Evaluation) {
		changed = true
		r.addEvaluation(e)
	}
	err = r.tail.Read(anew, step, evaluation)
	return changed, err
}

// measure estimates the time left by what was added since the first look at a run that trains.
func (r *Run) measure() {
	now, last := program.Now(), r.lastStep()
	if r.state.State != run.Running {
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

func (r *Run) addEvaluation(e train.Evaluation) {
	if before, ok := r.evaluations.end(); ok && before.Step == e.Step { // of all the text, after random batches
		r.evaluations.setEnd(e)
		return
	}
	r.evaluations.add(e)
}

// Version returns a number that changes with the state.
func (r *Run) Version() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.version
}

// State returns what is known of the run.
func (r *Run) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.state
	s.Version, s.Curves, s.Evaluations = r.version, Curves{Step: []int{}}, Evaluations{Step: []int{}}
	for _, x := range r.steps.kept {
		s.Curves.Step = append(s.Curves.Step, x.Step)
		s.Curves.Loss = append(s.Curves.Loss, x.Loss)
		s.Curves.LearningRate = append(s.Curves.LearningRate, x.LearningRate)
		s.Curves.GradNorm = append(s.Curves.GradNorm, x.GradNorm)
		s.Curves.TokensPerSecond = append(s.Curves.TokensPerSecond, x.TokensPerSecond)
	}
	for _, e := range r.evaluations.kept {
		s.Evaluations.Step, s.Evaluations.Loss = append(s.Evaluations.Step, e.Step), append(s.Evaluations.Loss, e.Loss)
	}
	return s
}

// Watched returns how the run's weights moved.
func (r *Run) Watched() (*train.Watched, error) { return train.ReadWatch(r.dir) }
