package train

import (
	"cmp"
	"errors"
	"fmt"

	"attention/internal/config"
	"attention/internal/stock"
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

	// Group is the processes that share the batches of every step and evaluation, and the
	// solver's state; nil is one. The bits do not depend on their number, which is at most
	// Accumulate. Each has a Loop of its own, over parameters with the same values and
	// sources that yield the same batches, and calls the methods of its Loop when the others
	// do. Run compares them first. Rank 0 saves, with the Checkpoints of SaveTo, and calls
	// BeforeSave; every process reads a checkpoint itself.
	Group Group `json:"-"`

	// About describes the model and its data beyond the parameters' names and shapes,
	// such as the model's own config as JSON. A checkpoint holds it, and Restore
	// refuses one that differs.
	About map[string]string `json:"-"`

	OnStep func(StepResult) `json:"-"` // called by Run after every step; may be nil
	OnEval func(Evaluation) `json:"-"` // called by Run after every evaluation; may be nil
	// BeforeSave is called by Run before it saves a checkpoint, which it does not do
	// after an error; may be nil. The checkpoint holds the notes, for Loop.Notes.
	BeforeSave func() (notes map[string]string, err error) `json:"-"`
}

// Validate returns an error that names the first wrong field.
func (c Config) Validate() error {
	return cmp.Or(config.AtLeast(c, 1, "Steps"), config.AtLeast(c, 0, "Accumulate", "EvalEvery"), c.StepConfig.Validate(),
		c.validateBest())
}

// Evaluation is the loss over a whole source.
type Evaluation struct {
	Step   int     // steps taken before it: that of the last StepResult, 0 for none
	Loss   float64 // mean over all targets that count
	Tokens int     // number of those targets
}

// Loop trains the parameters of a model step by step. It is not safe for use by
// several goroutines at once.
type Loop struct {
	config         Config
	params         *layers.Params
	loss           Loss
	team           *team
	step           *Step
	eval           *program // nil until an evaluation is asked for
	evaluated      int      // steps before the last evaluation of Run
	best           best
	savedWith      string       // kernels that wrote the checkpoint of Restore, "" if not known
	savedSums      string       // how its program added gradients, "" for an older one
	savedPrecision string       // of its products, "" without a checkpoint
	saves          *Checkpoints // nil if Run does not save
	saving         saving
	watch          *recorder // nil if Run does not record
	notes          map[string]string
	torn           bool // Restore has failed while it read
}

// New builds the training graph of loss over the parameters p. It trains those that
// the loss depends on and that are not frozen; the others stay as they are.
func New(p *layers.Params, loss Loss, c Config) (*Loop, error) {
	if p == nil || loss == nil {
		return nil, errors.New("train: got no parameters or no loss, want both")
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	t, err := newTeam(c.Group)
	if err == nil {
		err = c.checkShares(t.Size())
	}
	if err != nil {
		return nil, err
	}
	stock.Building.Lock()
	defer stock.Building.Unlock()
	b, cost, err := loss.build(p, layers.Train)
	if err != nil {
		return nil, err
	}
	step, err := newStep(b, cost, c.StepConfig, t, c.batchesPerStep())
	if err != nil {
		return nil, err
	}
	l := &Loop{config: c, params: p, loss: loss, team: t, step: step}
	if c.KeepBest {
		l.makeBest()
	}
	return l, nil
}

// checkShares refuses a group of which a process has no batch.
func (c Config) checkShares(size int) error {
	if got := c.batchesPerStep(); got < size {
		return fmt.Errorf("train: %w", config.Errorf(c, "Accumulate",
			"got %d for a group of %d processes, which share the batches of a step, want at least %[2]d", got, size))
	}
	return nil
}

// build calls loss for one mode's graph.
func (loss Loss) build(p *layers.Params, mode layers.Mode) (*layers.Build, *G.Node, error) {
	b := layers.NewBuild(p, mode)
	cost, err := loss(b)
	if err != nil {
		return nil, nil, fmt.Errorf("train: %v graph: %w", mode, err)
	}
	return b, cost, nil
}

// batchesPerStep returns how many batches a step takes.
func (c Config) batchesPerStep() int { return max(c.Accumulate, 1) }

// Steps returns the number of steps taken.
func (l *Loop) Steps() int {
	if l.made() != nil {
		return 0
	}
	return l.step.taken
}

// made refuses a loop that New did not make.
func (l *Loop) made() error {
	if l == nil || l.step == nil {
		return errors.New("train: loop: got nil or its zero value, want one of New")
	}
	return nil
}

// Evaluated returns the number of steps that were taken before the last evaluation that
// Run made; 0 if it made none. If an evaluation was interrupted, the next Run repeats
// it, also after Restore.
func (l *Loop) Evaluated() int {
	if l == nil {
		return 0
	}
	return l.evaluated
}

// Notes returns the notes of Config.BeforeSave in the checkpoint that was last saved or
// restored, or nil.
func (l *Loop) Notes() map[string]string {
	if l == nil {
		return nil
	}
	return l.notes
}

// SaveTo makes Run save checkpoints to a folder; nil makes it save none.
func (l *Loop) SaveTo(c *Checkpoints) {
	if l != nil {
		l.saves = c
	}
}

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
	return l.step.take(&given{batches})
}

// given is a source of given batches.
type given struct{ batches []Batch }

func (g *given) Next() (Batch, error) {
	b := g.batches[0]
	g.batches = g.batches[1:]
	return b, nil
}
