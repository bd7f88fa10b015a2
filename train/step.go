// Package train trains models. Start with NewStepFunc: its Step trains the parameters of a formula on batches of any
// shapes, and Step.Run makes a step with a batch. The Step of NewStep trains a graph that was built by hand, whose loss
// is one of its nodes, on batches of the graph's shape.
//
// A Solver updates parameters in place, at the learning rate of a Schedule, from gradients that may be clipped and
// accumulated. A model consists of parameters and a formula of its loss. A Source yields batches of data: Batches is a
// source of tensors, and train/text has sources of text. Evaluate and Accuracy measure what a model has learnt.
//
// Package train/loop makes the steps of a run, evaluates and saves. Package train/checkpoint saves a run to files, so
// that a run that was stopped or killed ends with the same bits as an uninterrupted run. Package train/record records
// how the weights change. Package train/parallel divides the steps among processes, with the same bits as in one
// process. Everything is deterministic: the same configs, seeds and data give the same bits.
//
// Configs are plain structs with JSON. Their zero values are the documented defaults, and Validate returns an error
// that names the first wrong field.
package train

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"attention/graph/machine"
	"attention/internal/config"
	"attention/internal/expr"
	"attention/internal/shapes"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// StepConfig sets how a step updates the parameters.
type StepConfig struct {
	Accumulate int            `json:"accumulate"` // batches per step, whose gradients are averaged by tokens; 0 means 1
	Solver     SolverConfig   `json:"solver"`     // zero value: AdamW
	Schedule   ScheduleConfig `json:"schedule"`   // of the learning rate; there is no default
	ClipNorm   float64        `json:"clip_norm"`  // limit of the gradients' global norm; 0 means none
	Seed       int64          `json:"seed"`       // of the dropout masks

	// MiniBatchSize is the most rows of a batch that a Step of NewStepFunc computes at once, if it is not 0. Larger batches
	// take the memory of so many rows, have the same gradients and take a third more time: gradient caching, as of
	// sentence-transformers' CachedMultipleNegativesRankingLoss. Values have a row for each example, and the formula marks
	// its embeddings by layers.Build.Cached. Each mini-batch has its own dropout masks.
	MiniBatchSize int `json:"mini_batch_size,omitempty"`

	// BatchTokens is the number of tokens per batch that StepResult.TokensPerSecond counts; 0 means the tokens whose
	// targets are not ignored.
	BatchTokens int `json:"-"`

	// Graphs is the largest number of graphs that a Step of NewStepFunc keeps; 0 means 8.
	Graphs int `json:"-"`

	// Group is the processes that share the batches of every step, and the solver's state; nil means one process. The bits
	// do not depend on the number of processes, which is at most Accumulate. Each process has its own Step, over
	// parameters with the same values. All processes step together, from sources that yield the same batches.
	Group Group `json:"-"`
}

// Validate returns an error that names the first wrong field.
func (c StepConfig) Validate() error {
	return cmp.Or(config.AtLeast(c, 0, "Accumulate"), config.In(c, "Solver", c.Solver.Validate()),
		config.In(c, "Schedule", c.Schedule.Validate()), config.AtLeast(c, 0, "ClipNorm", "BatchTokens", "Graphs", "MiniBatchSize"),
		c.validateGroup())
}

// batches returns the number of batches of a step.
func (c StepConfig) batches() int { return max(c.Accumulate, 1) }

// all parameters, for the formula
type Step struct {
	config   StepConfig
	all      *layers.Params
	formula  layers.Formula // copies of gradients that must not be overwritten in the graph, else nil
	version  int            // of all parameters, for the formula
	programs shapes.Cache[*program]
	cached   cachedStep
	program  *program        // norm of each parameter's gradient in the last step, before clipping; nil before the first
	arena    machine.Arena   // memory for sums of gradients, one set per sum; none for steps of one batch
	params   []Param         // number of sets that hold a sum
	copies   []*tensor.Dense // of gradients that cannot be written to in the graph, else nil
	solver   *Solver
	own      []Span // indices of the batches that this process sums
	blocks   []block
	norms    []float64         // of each parameter's gradient in the last step, before clipping; nil before the first
	sums     [][]*tensor.Dense // room for the sums of all parameters' gradients; none for steps of one batch
	used     int               // how many of them hold a sum
	taken    int

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

// NewStepFunc returns a Step whose batches may have any shapes. The first node that the formula returns is the loss;
// other nodes are for a layers.Func, and a step does not compute them. The formula is called for the first batch of
// each combination of names, types and shapes, in Train mode. At most StepConfig.Graphs graphs are kept, as in a
// layers.Func, and all use the same memory. Gradients, their sums and the solver's state exist once.
//
// All parameters that are not frozen are trained, and the loss of every batch must depend on each of them: freeze the
// others. After Params.Keep, Widen, Freeze, Unfreeze or AddLoRA a step returns an error; make a new Step.
func NewStepFunc(p *layers.Params, loss layers.Formula, c StepConfig) (*Step, error) {
	if p == nil || loss == nil {
		return nil, errors.New("train: step: got no parameters or no formula, want both")
	}
	s := &Step{config: c, all: p, formula: loss, version: p.Version()}
	for name, v := range p.All() {
		if !p.Frozen(name) {
			s.params = append(s.params, Param{Name: name, Value: v})
		}
	}
	return s.init()
}

// NewStep adds the gradients of loss, a scalar of the build's graph, and compiles the graph. Parameters that the loss
// depends on and that are not frozen are trained, and all others stay unchanged. Batches have the shapes of the build's
// inputs. If the build has an error, NewStep returns its first one, so that a formula need not check its own.
func NewStep(b *layers.Build, loss *G.Node, c StepConfig) (*Step, error) {
	if b == nil || b.Graph() == nil {
		return nil, errors.New("train: step: got no build, want one of layers.NewBuild")
	}
	if c.MiniBatchSize != 0 {
		return nil, fmt.Errorf("train: %w", config.Errorf(c, "MiniBatchSize", "got %d for a graph, want 0, or a formula of "+
			"NewStepFunc", c.MiniBatchSize))
	}
	s := &Step{config: c, all: b.Params()}
	err := expr.Building(func() (err error) { s.program, s.params, err = newProgram(b, loss, &s.arena); return err })
	if err != nil {
		return nil, fmt.Errorf("train: %v graph: %w", b.Mode(), err)
	}
	return s.init()
}

// init makes the parts that belong to the parameters and not to one graph: the solver, the blocks of the norms and the
// sums of gradients; in a group only this process's part.
func (s *Step) init() (*Step, error) {
	if err := s.config.Validate(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	slots, err := s.config.Solver.slots(s.params)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	n := s.config.batches()
	s.copies = make([]*tensor.Dense, len(s.params))
	s.blocks = blocksOf(slots, n)
	bounds := []int{0, n}
	if g := s.config.Group; g != nil {
		s.group = newGroupStep(g, s.params, s.blocks, n)
		for i, own := range s.group.reducer.Own() {
			slots[i].own = own
		}
		bounds = s.group.reducer.Batches(g.Rank())
	}
	for _, at := range slots {
		s.own = append(s.own, at.own)
	}
	for i, b := range s.blocks {
		if own := s.own[b.param]; own.Lo <= b.Lo && b.Hi <= own.Hi {
			s.ownBlocks = append(s.ownBlocks, i)
		}
	}
	s.solver = s.config.Solver.newSolver(slots)
	if n > 1 {
		s.sums = make([][]*tensor.Dense, sumsOf(bounds))
	}
	for i := range s.sums {
		for _, p := range s.params {
			s.sums[i] = append(s.sums[i], newLike(p.Value))
		}
	}
	return s, nil
}

// Run makes one step with a batch and returns its loss before the update. v holds a value of the right type and shape
// for every input, and no others. After an error the step does not count, and the parameters are unchanged. Take makes
// a step with several batches.
func (s *Step) Run(v Values) (loss float64, err error) {
	if n := s.config.batches(); n > 1 {
		return 0, fmt.Errorf("train: step %d: got 1 batch, want %d: Take reads them from a source", s.taken+1, n)
	}
	r, err := s.Take(once(v))
	return r.Loss, err
}

// once is a source that yields one batch.
type once Values

func (v once) Next() (Batch, error) { return Batch{Inputs: Values(v)}, nil }

// Take makes one step with the next StepConfig.Accumulate batches of a source, which must not end earlier. After an
// error the step does not count, and the parameters are unchanged.
func (s *Step) Take(source Source) (StepResult, error) {
	r, err := s.step(source)
	if err != nil {
		return StepResult{}, fmt.Errorf("train: step %d: %w", s.taken+1, err)
	}
	s.taken++
	return r, nil
}

// step is one step: gradients, clipping, update.
func (s *Step) step(source Source) (StepResult, error) {
	if source == nil {
		return StepResult{}, errors.New("source: got nil, want one")
	}
	begin := time.Now()
	loss, tokens, err := s.gradients(source)
	if err != nil {
		return StepResult{}, err
	}
	clipped := machine.Timed("clipping")
	norm, err := s.gradientNorm()
	if err != nil {
		return StepResult{}, withOrigin(s.program.machine, err)
	}
	s.clip(norm)
	clipped()
	rate, updated := s.config.Schedule.At(s.taken), machine.Timed("solver")
	if err := s.solver.Step(rate, s.params); err != nil {
		return StepResult{}, err
	}
	updated()
	if s.group != nil {
		if err := s.group.spread(); err != nil {
			return StepResult{}, err
		}
	}
	if n := s.config.BatchTokens; n > 0 {
		tokens = n * s.config.batches()
	}
	return StepResult{Step: s.taken + 1, Loss: loss, LearningRate: rate, GradNorm: norm,
		TokensPerSecond: float64(tokens) / time.Since(begin).Seconds()}, nil
}

// dropoutKey returns the key of one batch's dropout masks; n counts the batches of a run. Keys differ for all n below
// 2³¹ and all seeds whose differences are below 2³¹: they are multiples of 2⁶⁴ divided by the golden ratio, and the
// multiples of this number stay farthest from each other. For seeds with larger differences, equal keys are as unlikely
// as for random seeds.
func dropoutKey(seed int64, n int) int64 {
	const golden = 0x9e3779b97f4a7c15
	return int64(uint64(seed)*golden + uint64(n))
}

// Steps returns the number of steps taken.
func (s *Step) Steps() int { return s.taken }

// SetSteps sets the number of steps taken to n. Call it after setting the parameters and the state to those after n
// steps. The schedule and the dropout masks continue from there.
func (s *Step) SetSteps(n int) { s.taken, s.norms = n, nil }

// Params returns the parameters that are trained, in order, with the gradients of the last step. The next step
// overwrites them.
func (s *Step) Params() []Param { return slices.Clone(s.params) }
