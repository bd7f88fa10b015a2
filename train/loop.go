package train

import (
	"errors"
	"fmt"
	"time"

	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Loss builds a model and its loss in a graph: it declares its inputs with
// b.Input and returns a scalar. It is called once for each mode, Train and Eval.
type Loss func(b *layers.Build) (*G.Node, error)

// Config says how a Loop trains.
type Config struct {
	Steps      int            `json:"steps"`      // of a whole run; at least 1
	Accumulate int            `json:"accumulate"` // batches of a step, whose gradients are averaged by tokens; 0 means 1
	Solver     SolverConfig   `json:"solver"`     // zero value: AdamW
	Schedule   ScheduleConfig `json:"schedule"`   // of the learning rate
	ClipNorm   float64        `json:"clip_norm"`  // limit of the gradients' global norm; 0 means none
	Seed       int64          `json:"seed"`       // of the dropout masks
	EvalEvery  int            `json:"eval_every"` // steps between evaluations; 0 means only at the end

	// About describes the model and its data beyond the parameters' names and shapes,
	// such as the model's own config as JSON. A checkpoint holds it, and Restore
	// refuses one that differs.
	About map[string]string `json:"-"`

	OnStep func(Step)       `json:"-"` // called by Run after every step; may be nil
	OnEval func(Evaluation) `json:"-"` // called by Run after every evaluation; may be nil
	// BeforeSave is called by Run before it saves a checkpoint, which it does not do
	// after an error; may be nil.
	BeforeSave func() error `json:"-"`
}

// Validate returns an error for the first field that makes no sense.
func (c Config) Validate() error {
	if c.Steps < 1 {
		return fmt.Errorf("train: steps: got %d, want a number >= 1", c.Steps)
	}
	if c.Accumulate < 0 {
		return fmt.Errorf("train: batches of a step: got %d, want a number >= 0", c.Accumulate)
	}
	if c.EvalEvery < 0 {
		return fmt.Errorf("train: steps between evaluations: got %d, want a number >= 0", c.EvalEvery)
	}
	if err := c.Solver.Validate(); err != nil {
		return err
	}
	if err := c.Schedule.Validate(); err != nil {
		return err
	}
	return checkNonNegative("gradient norm limit", c.ClipNorm)
}

// Evaluation is the loss over a whole source.
type Evaluation struct {
	Step   int     // steps taken before it
	Loss   float64 // mean over all targets that count
	Tokens int     // how many those are
}

// Loop trains the parameters of a model step by step. It is not safe for use by
// several goroutines at once.
type Loop struct {
	config    Config
	params    *layers.Params
	loss      Loss
	schedule  Schedule
	solver    Solver
	train     *program
	sums      []*tensor.Dense // of the parameters' gradients; none if a step takes one batch
	eval      *program        // nil until an evaluation is asked for
	step      int             // steps taken
	evaluated int             // of them, before the last evaluation of Run
	saves     *Checkpoints    // nil if Run does not save
}

// New builds the training graph of loss over the parameters p. Those that the
// loss depends on will be trained; the others stay as they are.
func New(p *layers.Params, loss Loss, c Config) (*Loop, error) {
	if p == nil || loss == nil {
		return nil, errors.New("train: got no parameters or no loss, want both")
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	schedule, err := c.Schedule.New()
	if err != nil {
		return nil, err
	}
	l := &Loop{config: c, params: p, loss: loss, schedule: schedule}
	if l.train, err = newProgram(p, loss, layers.Train); err != nil {
		return nil, err
	}
	if l.solver, err = c.Solver.New(l.train.params); err != nil {
		return nil, err
	}
	if c.batchesPerStep() > 1 {
		for _, p := range l.train.params {
			l.sums = append(l.sums, p.Grad.Clone().(*tensor.Dense))
		}
	}
	return l, nil
}

// Steps is the number of steps taken.
func (l *Loop) Steps() int { return l.step }

// Evaluated is the number of steps that were taken before the last evaluation that
// Run made; 0 if it made none. One that was due but cut short is made up for by the
// next Run, also after Restore.
func (l *Loop) Evaluated() int { return l.evaluated }

// SaveTo makes Run save checkpoints to a folder; nil means that it does not.
func (l *Loop) SaveTo(c *Checkpoints) { l.saves = c }

// Step takes one step: loss and gradients of the batches, clipping, update. It wants
// as many batches as a step takes, Config.Accumulate or 1. After an error the
// parameters are as they were and the step does not count.
func (l *Loop) Step(batches ...Batch) (Step, error) {
	if n := l.config.batchesPerStep(); len(batches) != n {
		return Step{}, fmt.Errorf("train: step %d: got %d batches, want %d", l.step, len(batches), n)
	}
	return l.takeStep(func() (Batch, error) {
		b := batches[0]
		batches = batches[1:]
		return b, nil
	})
}

// takeStep takes one step with the batches that next returns, each of which is used
// before the next one is asked for.
func (l *Loop) takeStep(next func() (Batch, error)) (Step, error) {
	begin := time.Now()
	loss, tokens, err := l.gradients(next)
	if err != nil {
		return Step{}, fmt.Errorf("train: step %d: %w", l.step, err)
	}
	norm, rate, err := l.update()
	if err != nil {
		return Step{}, fmt.Errorf("train: step %d: %w", l.step, err)
	}
	l.step++
	return Step{N: l.step - 1, Loss: loss, LearningRate: rate, GradNorm: norm,
		TokensPerSecond: float64(tokens) / time.Since(begin).Seconds()}, nil
}

// update clips the gradients and moves the parameters.
func (l *Loop) update() (norm, rate float64, err error) {
	params := l.train.params
	if norm, err = gradientNorm(params); err != nil {
		return 0, 0, l.train.whence(err)
	}
	clipGradients(params, norm, l.config.ClipNorm)
	rate = l.schedule.At(l.step)
	return norm, rate, l.solver.Step(rate, params)
}

// dropoutKey is the key of one batch's dropout masks; n counts the batches of a run.
// It differs for all seeds less than 2³¹ apart and n below 2³¹: 2⁶⁴ divided by the
// golden ratio is the number whose multiples stay farthest from each other. For seeds
// farther apart an equal key is as unlikely as for random ones.
func dropoutKey(seed int64, n int) int64 {
	const golden = 0x9e3779b97f4a7c15
	return int64(uint64(seed)*golden + uint64(n))
}
