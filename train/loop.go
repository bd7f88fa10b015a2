package train

import (
	"cmp"
	"errors"
	"fmt"

	"attention/graph"
	"attention/internal/config"
	"attention/internal/expr"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// Loss builds a model and its loss in a graph: it declares its inputs with
// b.Input and returns a scalar. It is called once for each mode, Train and Eval.
type Loss func(b *layers.Build) (*G.Node, error)

// Config sets how a Loop trains.
type Config struct {
	Steps      int `json:"steps"`      // of a whole run; at least 1
	Accumulate int `json:"accumulate"` // batches of a step, whose gradients are averaged by tokens; 0 means 1
	StepConfig     // its fields are the config's own, in JSON too
	EvalEvery  int `json:"eval_every"` // steps between evaluations; 0 means only at the end

	// Patience is the number of evaluations in a row without an improvement, by more than
	// MinDelta, after which Run ends; 0 means that it takes all steps.
	Patience int     `json:"patience,omitempty"`
	MinDelta float64 `json:"min_delta,omitempty"` // 0 means that any lower loss is an improvement
	// KeepBest makes Run keep a copy of the trained parameters of the evaluation with the
	// lowest loss, for UseBest. Checkpoints hold it too.
	KeepBest bool `json:"keep_best,omitempty"`

	// Precision is the precision of the products of both graphs; the zero value is full.
	Precision graph.Precision `json:"-"`
	// CheckpointBlocks makes a step keep only the inputs of a model's blocks and compute the
	// rest again for their gradients: less memory, the same bits.
	CheckpointBlocks bool `json:"-"`

	// Group is the processes that share the batches of every step and evaluation, and the
	// solver's state; nil is one. The bits do not depend on their number, which is at most
	// Accumulate. Each has a Loop of its own, over parameters with the same values and
	// sources that yield the same batches, and calls the methods of its Loop when the other
	// processes do. Run compares them first. Rank 0 saves, to the Saver of SaveTo, and calls
	// BeforeSave; every process restores a checkpoint itself.
	Group Group `json:"-"`

	// About describes the model and its data beyond the parameters' names and shapes,
	// such as the model's own config as JSON. A checkpoint holds it, and Restore
	// refuses one that differs.
	About map[string]string `json:"-"`

	OnStep func(StepResult) `json:"-"` // called by Run after every step; may be nil
	OnEval func(Evaluation) `json:"-"` // called by Run after every evaluation; may be nil
	// BeforeSave is called by Run before it saves a checkpoint, which it does not do
	// after an error; may be nil. The checkpoint holds the notes, as State.Notes.
	BeforeSave func() (notes map[string]string, err error) `json:"-"`
}

// Validate returns an error that names the first wrong field.
func (c Config) Validate() error {
	return cmp.Or(config.AtLeast(c, 1, "Steps"), config.AtLeast(c, 0, "Accumulate", "EvalEvery"),
		c.StepConfig.Validate(), c.validateBest())
}

// Evaluation is the loss over a whole source.
type Evaluation struct {
	Step   int     `json:"step"`            // steps taken before it; 0 for none
	Loss   float64 `json:"validation_loss"` // mean over all targets that count
	Tokens int     `json:"-"`               // number of those targets
}

// Loop trains the parameters of a model step by step. It is not safe for use by
// several goroutines at once.
type Loop struct {
	config    Config
	params    *layers.Params
	loss      Loss
	step      *Step
	eval      *program // nil until an evaluation is asked for
	evaluated int      // steps before the last evaluation of Run
	best      best
	saver     Saver // nil if Run does not save
	saving    saving
	observer  Observer // nil if nobody observes
	notes     map[string]string
	torn      bool // SetState has failed while it read
}

// New builds the training graph of loss over the parameters p. It trains those that
// the loss depends on and that are not frozen; all others stay unchanged.
func New(p *layers.Params, loss Loss, c Config) (*Loop, error) {
	if p == nil || loss == nil {
		return nil, errors.New("train: got no parameters or no loss, want both")
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	if err := c.checkShares(); err != nil {
		return nil, err
	}
	l := &Loop{config: c, params: p, loss: loss}
	if err := expr.Building(l.makeStep); err != nil {
		return nil, err
	}
	if c.KeepBest {
		l.makeBest()
	}
	return l, nil
}

// makeStep builds the training graph.
func (l *Loop) makeStep() error {
	b, cost, err := l.build(layers.Train)
	if err != nil {
		return err
	}
	l.step, err = newStep(b, cost, l.config.StepConfig, l.config.Group, l.config.batchesPerStep())
	return err
}

// build calls the loss for one mode's graph.
func (l *Loop) build(mode layers.Mode) (*layers.Build, *G.Node, error) {
	b := layers.NewBuild(l.params, mode)
	b.SetPrecision(l.config.Precision)
	if l.config.CheckpointBlocks {
		b.CheckpointBlocks()
	}
	cost, err := l.loss(b)
	if err != nil {
		return nil, nil, fmt.Errorf("train: %v graph: %w", mode, err)
	}
	return b, cost, nil
}

// batchesPerStep returns how many batches a step takes.
func (c Config) batchesPerStep() int { return max(c.Accumulate, 1) }

// Steps returns the number of steps taken.
func (l *Loop) Steps() int { return l.step.taken }

// Step takes one step: loss and gradients of the batches, clipping, update. It wants
// as many batches as a step takes, Config.Accumulate or 1. After an error the
// parameters are as they were and the step does not count.
func (l *Loop) Step(batches ...Batch) (StepResult, error) {
	if err := l.trainable(); err != nil {
		return StepResult{}, err
	}
	n := l.config.batchesPerStep()
	if len(batches) != n {
		return StepResult{}, fmt.Errorf("train: step %d: got %d batches, want %d", l.Steps()+1, len(batches), n)
	}
	return l.step.take(&list{batches})
}

// list is a source of the batches of a list.
type list struct{ batches []Batch }

func (l *list) Next() (Batch, error) {
	b := l.batches[0]
	l.batches = l.batches[1:]
	return b, nil
}
