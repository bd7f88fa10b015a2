package loop

import (
	"errors"
	"iter"

	"attention/internal/oneline"
	"attention/layers"
	"attention/train"

	"gorgonia.org/tensor"
)

// State is the state of a loop between two steps, with the parameters that it trains. Package checkpoint
// writes it to files.
type State struct {
	Config    Config
	Params    *layers.Params
	Frozen    []string // names of the parameters that were frozen when the loop was made
	Steps     int      // taken
	Evaluated int      // steps before the last evaluation of Run; 0 if it made none

	// Notes are the notes that Config.BeforeSave returned for the checkpoint that was last saved or restored.
	Notes map[string]string

	// Best is Loop.Best. From is the last loss that counted as an improvement, and Stale is the number of evaluations
	// since then.
	Best  Evaluation
	From  float64
	Stale int
	Kept  iter.Seq2[string, *tensor.Dense] // the parameters at Best; none without Config.KeepBest

	Solver []train.Part // in its order

	// Observed is the number of steps before the observer's last observation, and Observations are the observer's tensors;
	// they are -1 and nil without an observer.
	Observed     int
	Observations iter.Seq2[string, *tensor.Dense]
}

// State returns the state of the loop, whose tensors are the loop's own: the next step changes
// them.
func (l *Loop) State() State {
	s := State{Config: l.config, Params: l.params, Frozen: l.frozen, Steps: l.Steps(),
		Evaluated: l.evaluated, Notes: l.notes, Best: l.best.Evaluation, From: l.best.from, Stale: l.best.stale,
		Kept: l.best.kept(), Solver: l.step.State(), Observed: -1}
	if l.observer != nil {
		s.Observed, s.Observations = l.observer.State()
	}
	return s
}

// SetState restores s. read fills the tensors that s shares with the loop; the numbers of s are copied after read has
// succeeded. If it fails, the loop does not train until another SetState.
func (l *Loop) SetState(s State, read func() error) error {
	if read == nil {
		return errors.New("train: state: got nil for the function that reads it, want one")
	}
	l.torn = true
	if err := read(); err != nil {
		return err
	}
	l.torn = false
	l.step.SetSteps(s.Steps)
	l.evaluated, l.notes = s.Evaluated, s.Notes
	l.best.used, l.best.Evaluation, l.best.from, l.best.stale = false, s.Best, s.From, s.Stale
	if l.observer != nil {
		l.observer.SetState(s.Observed)
	}
	return nil
}

// Save calls write with the state of the loop, for package checkpoint. In a group every process calls Save: rank 0
// writes, and the other processes send it their parts of the solver's state. The observer is flushed first, so that no
// checkpoint is newer than the observer's files.
func (l *Loop) Save(write func(State) error) error {
	if err := l.trainable(); err != nil {
		return err
	}
	var lead func([]train.Part) error
	if write != nil {
		lead = func(solver []train.Part) error {
			s := l.State()
			s.Solver = solver
			flushed := l.flush() // its error matters less than the checkpoint
			return oneline.Join(write(s), flushed)
		}
	}
	return l.step.Collect(lead)
}
