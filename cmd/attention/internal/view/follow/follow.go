// Package follow reads what a run records, while it trains or afterwards: its losses, its state, and how its weights
// moved. It reads the run's folder only, so that looking changes nothing of the run.
package follow

import (
	"slices"
	"sync"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run"
	"attention/train"
)

// Run is a run that is followed.
type Run struct {
	Name    string
	dir     string
	planned int

	mu      sync.Mutex
	tail    *run.Tail
	state   State
	every   int // steps of which one is kept
	version int // of the state; counts its changes

	from     time.Time // when the first look was, of a run that trains
	fromStep int       // the last step then
}

// State is what is known of a run. Of a long run only some steps are kept, evenly spread.
type State struct {
	Name        string             `json:"name"`
	State       string             `json:"state"` // running, finished, stopped, failed or unfinished
	Error       string             `json:"error,omitempty"`
	Text        string             `json:"text"`
	Model       string             `json:"model"`
	Planned     int                `json:"planned"`
	Losses      run.Losses         `json:"losses"`
	Samples     []Sample           `json:"samples"`
	Steps       []train.StepResult `json:"-"`
	Curves      Curves             `json:"curves"`
	Evaluations Evaluations        `json:"evaluations"`
	SecondsLeft float64            `json:"secondsLeft,omitempty"` // as fast as now; 0 if it is not known
	Version     int                `json:"version"`
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

// maxSteps is the most steps that are kept; their number is halved then.
const maxSteps = 4096

// Open begins to follow the run in a folder.
func Open(dir string) (*Run, error) {
	s, err := run.Summarize(dir)
	if err != nil {
		return nil, err
	}
	r := &Run{Name: (&run.Folder{Path: dir}).Name(), dir: dir, planned: s.Planned, tail: run.NewTail(dir), every: 1}
	r.state = State{Name: r.Name, Text: s.Text, Model: s.Model, Planned: s.Planned}
	return r, r.Update()
}

// measure estimates the time left by what was added since the first look at a run that trains.
func (r *Run) measure() {
	now, last := program.Now(), r.state.last()
	if r.state.State != run.Running || last < r.fromStep {
		r.from, r.state.SecondsLeft = time.Time{}, 0
		return
	}
	if r.from.IsZero() {
		r.from, r.fromStep = now, last
	}
	if done := last - r.fromStep; done > 0 {
		r.state.SecondsLeft = now.Sub(r.from).Seconds() / float64(done) * float64(r.planned-last)
	}
}

// Update reads what is new.
func (r *Run) Update() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, steps, evaluations := r.state.State, r.state.last(), len(r.state.Evaluations.Step)
	state, wrong, report, err := run.StateOf(r.dir)
	if err != nil {
		return err
	}
	anew, err := r.tail.Read(r.addStep, r.addEvaluation)
	if err != nil {
		return err
	}
	r.state.State, r.state.Error, r.state.Losses = state, wrong, report.Losses
	r.measure()
	r.state.Samples = nil
	for _, s := range report.Sessions {
		if s.Sample != nil {
			r.state.Samples = append(r.state.Samples, Sample{s.To, *s.Sample})
		}
	}
	if anew || state != before || r.state.last() != steps || len(r.state.Evaluations.Step) != evaluations {
		r.version++
	}
	return nil
}

// last returns the number of the last step.
func (s *State) last() int {
	if len(s.Steps) == 0 {
		return 0
	}
	return s.Steps[len(s.Steps)-1].Step
}

// addStep adds a step, which replaces later ones: a resumed run repeats them. The last step is always kept, of those
// before it one in r.every.
func (r *Run) addStep(step train.StepResult) {
	s := &r.state
	for len(s.Steps) > 0 && s.last() >= step.Step {
		s.Steps = s.Steps[:len(s.Steps)-1]
	}
	for n := len(s.Evaluations.Step); n > 0 && s.Evaluations.Step[n-1] >= step.Step; n-- {
		s.Evaluations.Step, s.Evaluations.Loss = s.Evaluations.Step[:n-1], s.Evaluations.Loss[:n-1]
	}
	if n := len(s.Steps); n > 1 && s.last()%r.every != 0 {
		s.Steps = s.Steps[:n-1]
	}
	s.Steps = append(s.Steps, step)
	if len(s.Steps) > maxSteps {
		r.every *= 2
		s.Steps = slices.DeleteFunc(s.Steps, func(x train.StepResult) bool {
			return x.Step%r.every != 0 && x.Step != step.Step && x.Step != 1
		})
	}
}

func (r *Run) addEvaluation(e train.Evaluation) {
	all := &r.state.Evaluations
	if n := len(all.Step); n > 0 && all.Step[n-1] == e.Step { // of all the text, after random batches
		all.Loss[n-1] = e.Loss
		return
	}
	all.Step, all.Loss = append(all.Step, e.Step), append(all.Loss, e.Loss)
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
	s.Version, s.Curves = r.version, Curves{Step: []int{}}
	for _, x := range s.Steps {
		s.Curves.Step = append(s.Curves.Step, x.Step)
		s.Curves.Loss = append(s.Curves.Loss, x.Loss)
		s.Curves.LearningRate = append(s.Curves.LearningRate, x.LearningRate)
		s.Curves.GradNorm = append(s.Curves.GradNorm, x.GradNorm)
		s.Curves.TokensPerSecond = append(s.Curves.TokensPerSecond, x.TokensPerSecond)
	}
	s.Evaluations = Evaluations{append([]int{}, s.Evaluations.Step...), slices.Clone(s.Evaluations.Loss)}
	return s
}

// Watched returns how the run's weights moved.
func (r *Run) Watched() (*train.Watched, error) { return train.ReadWatch(r.dir) }
