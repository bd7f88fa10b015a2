// Package loop runs the steps of a training. A Loop trains a loss with train.Step and evaluates, keeps the weights of
// the best evaluation, and calls a Saver and an Observer: package train/checkpoint implements Saver, and package
// train/record implements Observer.
package loop

import (
	"cmp"
	"errors"
	"fmt"
	"iter"

	"attention/graph"
	"attention/internal/config"
	"attention/layers"
	"attention/train"

	G "gorgonia.org/gorgonia"
)

// Config sets how a Loop trains.
//
// The processes of a Group share evaluations, too. Each process has its own Loop and calls the same methods in the same
// order. Run first compares the loops. Rank 0 saves, to the Saver of SaveTo, and calls BeforeSave; every process
// restores a checkpoint itself.
type Config struct {
	Steps            int `json:"steps"` // steps of a whole run; at least 1
	train.StepConfig     // its fields are fields of this config, in JSON too
	EvalEvery        int `json:"eval_every"` // steps between evaluations; 0 means only at the end

	// Patience is the number of evaluations in a row without an improvement, by more than
	// MinDelta, after which Run ends; 0 means that it takes all steps.
	Patience int     `json:"patience,omitempty"`
	MinDelta float64 `json:"min_delta,omitempty"` // 0 means that any lower loss is an improvement
	// KeepBest makes Run keep a copy of the trained parameters of the evaluation with the
	// lowest loss, for UseBest. Checkpoints hold it too.
	KeepBest bool `json:"keep_best,omitempty"`

	// Precision is the precision of the products of all graphs; the zero value is full.
	Precision graph.Precision `json:"-"`
	// CheckpointBlocks makes a step store only the inputs of a model's blocks and compute the other values again for the
	// gradients: less memory, the same bits.
	CheckpointBlocks bool `json:"-"`

	// About describes the model and its data beyond the parameters' names and shapes, such as the model's own config as
	// JSON. A checkpoint holds it, and Restore returns an error if it differs.
	About map[string]string `json:"-"`

	OnStep func(train.StepResult) `json:"-"` // called by Run after every step; may be nil
	OnEval func(Evaluation)       `json:"-"` // called by Run after every evaluation; may be nil
	// BeforeSave is called by Run before it saves a checkpoint; Run does not save after an error. It may be nil. Its
	// result is stored in the checkpoint, as State.Notes.
	BeforeSave func() (notes map[string]string, err error) `json:"-"`
}

// Validate returns an error that names the first wrong field.
func (c Config) Validate() error {
	return cmp.Or(config.AtLeast(c, 1, "Steps"), config.AtLeast(c, 0, "EvalEvery"),
		c.StepConfig.Validate(), c.validateBest())
}

// Evaluation is the mean loss over a whole source.
type Evaluation struct {
	Step   int     `json:"step"`            // steps taken before it; 0 if there is no evaluation
	Loss   float64 `json:"validation_loss"` // mean over all targets that are not ignored
	Tokens int     `json:"-"`               // number of those targets
}

// Loop trains the parameters of a model step by step. It is not safe for concurrent use.
type Loop struct {
	config    Config
	params    *layers.Params
	frozen    []string // names of the parameters that were frozen when the loop was made
	step      *train.Step
	eval      *layers.Func
	evaluated int // steps before the last evaluation of Run
	best      best
	saver     Saver // nil if Run does not save
	saving    saving
	observer  Observer // nil if nobody observes
	notes     map[string]string
	torn      bool // SetState failed while it was reading
}

// New returns a loop over a loss, which train.NewStepFunc describes. It trains the parameters of p that are not frozen;
// all others stay unchanged. The loss is called in Train mode for the first training batch of each combination of types
// and shapes, and in Eval mode for the first such evaluation batch.
func New(p *layers.Params, loss layers.Formula, c Config) (*Loop, error) {
	if p == nil || loss == nil {
		return nil, errors.New("train: got no parameters or no loss, want both")
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	l := &Loop{config: c, params: p}
	for name := range p.All() {
		if p.Frozen(name) {
			l.frozen = append(l.frozen, name)
		}
	}
	formula := func(b *layers.Build, in layers.Inputs) []*G.Node {
		b.SetPrecision(c.Precision)
		if c.CheckpointBlocks {
			b.CheckpointBlocks()
		}
		return loss(b, in)
	}
	var err error
	if l.step, err = train.NewStepFunc(p, formula, c.StepConfig); err != nil {
		return nil, err
	}
	if l.eval, err = layers.NewFunc(p, formula, layers.FuncConfig{Graphs: c.Graphs}); err != nil {
		return nil, err
	}
	if c.KeepBest {
		l.makeBest()
	}
	return l, nil
}

// Prepare builds the graphs for the next batches of the sources without advancing the sources. Memory then includes the
// graphs, and an error of the loss appears before the first step. eval may be nil; if eval is not Resumable, Prepare
// assumes that its batches have the shapes of source.
func (l *Loop) Prepare(source train.Resumable, eval train.Source) error {
	if source == nil {
		return errNoSource
	}
	v, err := peek(source)
	if err != nil {
		return err
	}
	if err := l.step.Prepare(v); err != nil {
		return err
	}
	if eval == nil {
		return nil
	}
	if r, ok := eval.(train.Resumable); ok {
		if v, err = peek(r); err != nil {
			return err
		}
	}
	_, err = l.eval.Prepare(v)
	return err
}

// peek returns the values of a source's next batch, which the source yields again.
func peek(s train.Resumable) (train.Values, error) {
	state := s.State()
	b, err := s.Next()
	return b.Inputs, cmp.Or(err, s.SetState(state))
}

// Steps returns the number of steps taken.
func (l *Loop) Steps() int { return l.step.Steps() }

// GradNorms returns Step.GradNorms of the last step.
func (l *Loop) GradNorms() iter.Seq2[string, float64] { return l.step.GradNorms() }

// Traffic returns Step.Traffic of the steps taken.
func (l *Loop) Traffic() (sent, least int64) { return l.step.Traffic() }

// Memory returns the present memory of the loop. KeepBest adds the best weights. Graphs count once Prepare or the first
// step or evaluation has built them.
func (l *Loop) Memory() train.Memory {
	m := l.step.Memory()
	for _, v := range l.best.kept() {
		m.Weights += int(v.MemSize())
	}
	m.Graphs += l.eval.Bytes()
	return m
}

// Step takes one step: loss and gradients of the batches, clipping, update. Its argument has as many batches as a step
// uses, Config.Accumulate or 1. After an error the parameters are unchanged and the step does not count.
func (l *Loop) Step(batches ...train.Batch) (train.StepResult, error) {
	if err := l.trainable(); err != nil {
		return train.StepResult{}, err
	}
	if n := max(l.config.Accumulate, 1); len(batches) != n {
		return train.StepResult{}, fmt.Errorf("train: step %d: got %d batches, want %d", l.Steps()+1, len(batches), n)
	}
	return l.step.Take((*list)(&batches))
}

// list is a source that yields the batches of a list.
type list []train.Batch

func (l *list) Next() (train.Batch, error) {
	b := (*l)[0]
	*l = (*l)[1:]
	return b, nil
}
