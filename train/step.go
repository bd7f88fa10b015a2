package train

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"attention/graph/machine"
	"attention/internal/config"
	"attention/internal/expr"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Values are the values of a graph's inputs, by the inputs' names.
type Values = layers.Values

// StepConfig sets how a step updates the parameters.
type StepConfig struct {
	Solver   SolverConfig   `json:"solver"`    // zero value: AdamW
	Schedule ScheduleConfig `json:"schedule"`  // of the learning rate; there is no default
	ClipNorm float64        `json:"clip_norm"` // limit of the gradients' global norm; 0 means none
	Seed     int64          `json:"seed"`      // of the dropout masks

	// BatchTokens is how many tokens of a batch StepResult.TokensPerSecond counts; 0 means those whose targets count.
	BatchTokens int `json:"-"`
}

// Validate returns an error that names the first wrong field.
func (c StepConfig) Validate() error {
	return cmp.Or(config.In(c, "Solver", c.Solver.Validate()), config.In(c, "Schedule", c.Schedule.Validate()),
		config.AtLeast(c, 0, "ClipNorm", "BatchTokens"))
}

// Step takes training steps with one graph: the loss and its gradients, clipping, and
// the solver's update of the parameters in place. It is not safe for use by several
// goroutines at once.
type Step struct {
	config  StepConfig
	batches int // of a step
	program *program
	solver  *Solver
	own     []Span // of each parameter, the elements that this process updates
	blocks  []block
	norms   []float64         // of each parameter's gradient in the last step, before clipping; NaN before the first
	sums    [][]*tensor.Dense // room for sums of gradients, of all parameters each; none for steps of one batch
	used    int               // how many of them hold a sum
	taken   int

	ownBlocks []int      // indices of those that this process sums
	group     *groupStep // nil for one process
}

// StepResult describes one training step.
type StepResult struct {
	Step            int     `json:"step"` // steps taken with this one: 1 for the first
	Loss            float64 `json:"loss"` // mean over the batch's tokens, before the update; nats for a cross-entropy
	LearningRate    float64 `json:"learning_rate"`
	GradNorm        float64 `json:"grad_norm"` // of all gradients together, before clipping
	TokensPerSecond float64 `json:"tokens_per_second"`
}

// NewStep adds the gradients of loss, a scalar of the build's graph, and compiles the
// graph. Parameters that the loss depends on and that are not frozen are trained, and all others
// stay unchanged. The build's first error comes first, so that a formula need not check its
// own.
func NewStep(b *layers.Build, loss *G.Node, c StepConfig) (*Step, error) {
	var s *Step
	err := expr.Building(func() (err error) { s, err = newStep(b, loss, c, nil, 1); return err })
	return s, err
}

// newStep is NewStep for steps of n batches, which the processes of a group share; a nil
// group is one process.
func newStep(b *layers.Build, loss *G.Node, c StepConfig, g Group, n int) (*Step, error) {
	if b == nil || b.Graph() == nil {
		return nil, errors.New("train: step: got no build, want one of layers.NewBuild")
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	p, err := newTrainingProgram(b, loss)
	if err != nil {
		return nil, fmt.Errorf("train: %v graph: %w", b.Mode(), err)
	}
	slots, err := c.Solver.slots(p.params)
	if err != nil {
		return nil, err
	}
	s := &Step{config: c, batches: n, program: p, blocks: blocksOf(slots, n), norms: make([]float64, len(p.params))}
	s.forgetNorms()
	bounds := []int{0, n}
	for _, at := range slots {
		s.own = append(s.own, at.own)
	}
	if g != nil {
		s.group = newGroupStep(g, p.params, s.blocks, n)
		s.own, bounds = s.group.reducer.Own(), s.group.reducer.Batches(g.Rank())
	}
	for i, b := range s.blocks {
		if own := s.own[b.param]; own.Lo <= b.Lo && b.Hi <= own.Hi {
			s.ownBlocks = append(s.ownBlocks, i)
		}
	}
	for i, own := range s.own {
		slots[i].own = own
	}
	s.solver = c.Solver.newSolver(p.params, slots)
	s.makeSums(bounds)
	return s, nil
}

// forgetNorms makes the norms of the last step's gradients unknown.
func (s *Step) forgetNorms() {
	for i := range s.norms {
		s.norms[i] = math.NaN()
	}
}

// Run takes one step on a batch and returns its loss, computed before the parameters
// moved. v holds a value of the right type and shape for every input and no other. After
// an error the step does not count, and the parameters are unchanged.
func (s *Step) Run(v Values) (loss float64, err error) {
	r, err := s.take(&list{[]Batch{{Inputs: v}}})
	return r.Loss, err
}

// take takes one step with the next batches of a source.
func (s *Step) take(source Source) (StepResult, error) {
	r, err := s.step(source)
	if err != nil {
		return StepResult{}, fmt.Errorf("train: step %d: %w", s.taken+1, err)
	}
	s.taken++
	return r, nil
}

// step is one step: gradients, clipping, update.
func (s *Step) step(source Source) (StepResult, error) {
	begin := time.Now()
	loss, tokens, err := s.gradients(source)
	if err != nil {
		return StepResult{}, err
	}
	clipped := machine.Timed("clipping")
	norm, err := s.gradientNorm()
	if err != nil {
		return StepResult{}, s.program.withOrigin(err)
	}
	s.clip(norm)
	clipped()
	rate, updated := s.config.Schedule.At(s.taken), machine.Timed("solver")
	if err := s.solver.Step(rate, s.program.params); err != nil {
		return StepResult{}, err
	}
	updated()
	if s.group != nil {
		if err := s.group.spread(); err != nil {
			return StepResult{}, err
		}
	}
	if n := s.config.BatchTokens; n > 0 {
		tokens = n * s.batches
	}
	return StepResult{Step: s.taken + 1, Loss: loss, LearningRate: rate, GradNorm: norm,
		TokensPerSecond: float64(tokens) / time.Since(begin).Seconds()}, nil
}

// dropoutKey returns the key of one batch's dropout masks; n counts the batches of a run.
// It differs for all seeds less than 2³¹ apart and n below 2³¹: 2⁶⁴ divided by the
// golden ratio is the number whose multiples stay farthest from each other. For seeds
// farther apart an equal key is as unlikely as for random ones.
func dropoutKey(seed int64, n int) int64 {
	const golden = 0x9e3779b97f4a7c15
	return int64(uint64(seed)*golden + uint64(n))
}
