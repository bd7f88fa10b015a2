package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// Loss builds a model and its loss in a graph: it declares its inputs with
// b.Input and returns a scalar. It is called once for each mode, Train and Eval.
type Loss func(b *layers.Build) (*G.Node, error)

// Config says how a Loop trains.
type Config struct {
	Steps     int            `json:"steps"`      // of a whole run; at least 1
	Solver    SolverConfig   `json:"solver"`     // zero value: AdamW
	Schedule  ScheduleConfig `json:"schedule"`   // of the learning rate
	ClipNorm  float64        `json:"clip_norm"`  // limit of the gradients' global norm; 0 means none
	Seed      int64          `json:"seed"`       // of the dropout masks
	EvalEvery int            `json:"eval_every"` // steps between evaluations; 0 means only at the end

	OnStep func(Step)       `json:"-"` // called by Run after every step; may be nil
	OnEval func(Evaluation) `json:"-"` // called by Run after every evaluation; may be nil
}

// Validate returns an error for the first field that makes no sense.
func (c Config) Validate() error {
	if c.Steps < 1 {
		return fmt.Errorf("train: steps: got %d, want a number >= 1", c.Steps)
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
	config   Config
	params   *layers.Params
	loss     Loss
	schedule Schedule
	solver   Solver
	train    *program
	eval     *program // nil until an evaluation is asked for
	step     int      // steps taken
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
	return l, nil
}

// Steps is the number of steps taken.
func (l *Loop) Steps() int { return l.step }

// Step takes one step: loss and gradients of the batch, clipping, update. After
// an error the parameters are as they were and the step does not count.
func (l *Loop) Step(b Batch) (Step, error) {
	s, err := l.takeStep(b)
	if err != nil {
		return Step{}, fmt.Errorf("train: step %d: %w", l.step, err)
	}
	l.step++
	return s, nil
}

func (l *Loop) takeStep(b Batch) (Step, error) {
	begin := time.Now()
	// Not stopped between two ops: a batch that is drawn is used, so that a run that
	// goes on later gives the same bits.
	loss, err := l.train.run(context.Background(), b, dropoutKey(l.config.Seed, l.step))
	if err != nil {
		return Step{}, err
	}
	params := l.train.params
	if err := l.train.copyGradients(); err != nil {
		return Step{}, err
	}
	norm, err := gradientNorm(params)
	if err != nil {
		return Step{}, l.train.whence(err)
	}
	clipGradients(params, norm, l.config.ClipNorm)
	rate := l.schedule.At(l.step)
	if err := l.solver.Step(rate, params); err != nil {
		return Step{}, err
	}
	return Step{N: l.step, Loss: loss, LearningRate: rate, GradNorm: norm,
		TokensPerSecond: float64(b.Tokens) / time.Since(begin).Seconds()}, nil
}

// Run takes the steps that are left of Config.Steps, each with a batch of train,
// which must not end before. It evaluates on eval, unless that is nil, after
// every Config.EvalEvery steps and after the last one. A context that is done
// stops it between two steps with the context's error; Run may be called again
// to go on.
func (l *Loop) Run(ctx context.Context, train, eval Source) error {
	if train == nil {
		return errors.New("train: source to train on: got nil, want one")
	}
	if eval != nil { // a loss that cannot be evaluated should fail before the first step
		if err := l.prepareEval(); err != nil {
			return err
		}
	}
	for l.step < l.config.Steps {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("train: stopped after %d of %d steps: %w", l.step, l.config.Steps, err)
		}
		if err := l.runStep(train); err != nil {
			return err
		}
		if eval != nil && l.evalDue() {
			if err := l.runEval(ctx, eval); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *Loop) runStep(train Source) error {
	b, err := train.Next()
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("the source has ended, want batches for %d steps: %w", l.config.Steps, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return fmt.Errorf("train: step %d: batch: %w", l.step, err)
	}
	s, err := l.Step(b)
	if err == nil && l.config.OnStep != nil {
		l.config.OnStep(s)
	}
	return err
}

func (l *Loop) evalDue() bool {
	every := l.config.EvalEvery
	return l.step == l.config.Steps || every > 0 && l.step%every == 0
}

func (l *Loop) runEval(ctx context.Context, eval Source) error {
	e, err := l.Evaluate(ctx, eval)
	if err == nil && l.config.OnEval != nil {
		l.config.OnEval(e)
	}
	return err
}

// dropoutKey is the key of one step's dropout masks. It differs for all seeds
// less than 2³¹ apart and steps below 2³¹: 2⁶⁴ divided by the golden ratio is the
// number whose multiples stay farthest from each other. For seeds farther apart
// an equal key is as unlikely as for random ones.
func dropoutKey(seed int64, step int) int64 {
	const golden = 0x9e3779b97f4a7c15
	return int64(uint64(seed)*golden + uint64(step))
}
