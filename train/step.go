package train

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"attention/internal/config"
	"attention/internal/stock"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Values are what a graph's inputs are bound to, by the inputs' names.
type Values map[string]*tensor.Dense

// StepConfig sets how a step updates the parameters.
type StepConfig struct {
	Solver   SolverConfig   `json:"solver"`    // zero value: AdamW
	Schedule ScheduleConfig `json:"schedule"`  // of the learning rate; there is no default
	ClipNorm float64        `json:"clip_norm"` // limit of the gradients' global norm; 0 means none
	Seed     int64          `json:"seed"`      // of the dropout masks
}

// Validate returns an error that names the first wrong field.
func (c StepConfig) Validate() error {
	return cmp.Or(config.In(c, "Solver", c.Solver.Validate()), config.In(c, "Schedule", c.Schedule.Validate()),
		config.AtLeast(c, 0, "ClipNorm"))
}

// Step takes training steps with one graph: the loss and its gradients, clipping, and
// the solver's update of the parameters in place. It is not safe for use by several
// goroutines at once.
type Step struct {
	config  StepConfig
	program *program
	solver  *Solver
	sharing *sharing
	norms   *tensor.Dense     // (P), float64: those of the last step's gradients before clipping; NaN before the first
	sums    [][]*tensor.Dense // room for sums of gradients, of all parameters each; none for steps of one batch
	used    int               // how many of them hold a sum
	taken   int
	counted int   // steps of this process
	sent    int64 // bytes that they sent to other processes
}

// StepResult describes one training step.
type StepResult struct {
	Step            int     // steps taken with this one: 1 for the first
	Loss            float64 // mean over the batch's tokens, before the update; nats for a cross-entropy
	LearningRate    float64
	GradNorm        float64 // of all gradients together, before clipping
	TokensPerSecond float64
}

// NewStep adds the gradients of loss, a scalar of the build's graph, and compiles the
// graph. Parameters that the loss depends on and that are not frozen are trained, others
// stay as they are. The
// build's first error comes first, so that a formula need not check its own.
func NewStep(b *layers.Build, loss *G.Node, c StepConfig) (*Step, error) {
	stock.Building.Lock()
	defer stock.Building.Unlock()
	return newStep(b, loss, c, &team{Group: alone{}}, 1)
}

// newStep is NewStep for steps of n batches that the processes of a team share.
func newStep(b *layers.Build, loss *G.Node, c StepConfig, t *team, n int) (*Step, error) {
	if b == nil {
		return nil, errors.New("train: step: got nil for the build, want one")
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	p, err := newProgram(b, loss)
	if err == nil {
		p.hooks = b.StepHooks()
		err = p.differentiate(b)
	}
	if err == nil {
		err = p.compile()
	}
	if err != nil {
		return nil, fmt.Errorf("train: %v graph: %w", b.Mode(), err)
	}
	if err := p.checkHooks(t.Size()); err != nil {
		return nil, err
	}
	s := &Step{config: c, program: p, sharing: newSharing(t, p.params, n),
		norms: tensor.New(tensor.Of(tensor.Float64), tensor.WithShape(len(p.params)))}
	s.forgetNorms()
	if s.solver, err = c.Solver.newSharded(p.params, s.sharing.own()); err != nil {
		return nil, err
	}
	s.makeSums()
	return s, nil
}

// forgetNorms makes the norms of the last step's gradients unknown.
func (s *Step) forgetNorms() {
	for i := range s.norms.Float64s() {
		s.norms.Float64s()[i] = math.NaN()
	}
}

// Run takes one step on a batch and returns its loss, computed before the parameters
// moved. v holds a value of the right type and shape for every input and no other. After
// an error the step does not count, and the parameters are as they were unless a hook that
// follows their update has failed.
func (s *Step) Run(v Values) (loss float64, err error) {
	if s == nil || s.program == nil {
		return 0, errors.New("train: step: got nil or its zero value, want one of NewStep")
	}
	r, err := s.take(&given{[]Batch{{Inputs: v}}})
	return r.Loss, err
}

// take takes one step with the next batches of a source: gradients, clipping, update.
func (s *Step) take(source Source) (StepResult, error) {
	begin, sent := time.Now(), s.sharing.team.sent
	loss, tokens, err := s.gradients(source)
	if err != nil {
		return StepResult{}, fmt.Errorf("train: step %d: %w", s.taken+1, err)
	}
	norm, rate, err := s.update()
	if err != nil {
		return StepResult{}, fmt.Errorf("train: step %d: %w", s.taken+1, err)
	}
	s.taken++
	s.counted++
	s.sent += s.sharing.team.sent - sent
	return StepResult{Step: s.taken, Loss: loss, LearningRate: rate, GradNorm: norm,
		TokensPerSecond: float64(tokens) / time.Since(begin).Seconds()}, nil
}

// update clips the gradients and moves the parameters.
func (s *Step) update() (norm, rate float64, err error) {
	if norm, err = s.sharing.gradientNorm(s.norms.Float64s()); err != nil {
		return 0, 0, s.program.withOrigin(err)
	}
	s.sharing.clip(norm, s.config.ClipNorm)
	rate = s.config.Schedule.At(s.taken)
	if err := s.solver.Step(rate, s.program.params); err != nil {
		return 0, 0, err
	}
	if err := s.sharing.gatherValues(); err != nil {
		return 0, 0, err
	}
	if err := s.program.shareLargest(s.sharing.team); err != nil {
		return 0, 0, err
	}
	return norm, rate, s.program.afterStep()
}

// dropoutKey returns the key of one batch's dropout masks; n counts the batches of a run.
// It differs for all seeds less than 2³¹ apart and n below 2³¹: 2⁶⁴ divided by the
// golden ratio is the number whose multiples stay farthest from each other. For seeds
// farther apart an equal key is as unlikely as for random ones.
func dropoutKey(seed int64, n int) int64 {
	const golden = 0x9e3779b97f4a7c15
	return int64(uint64(seed)*golden + uint64(n))
}
