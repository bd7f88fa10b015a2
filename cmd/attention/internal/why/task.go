package why

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"

	"attention/cmd/attention/internal/program"
	"attention/layers"
	"attention/train"
	"attention/train/loop"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// task is a task that several models learn from the same examples.
type task struct {
	name        string
	report      taskReport // columns of the table of trained models
	title, head string     // of the table of trained models
	create      func(model int, s layers.Scope) (learner, error)
	// results returns the last cells of a model's row in the table, for the last seed in its report.
	results func(r modelReport) string
	// compare prints and draws the results of the models of the first seed.
	compare func(ctx context.Context, c *comparison, r *taskReport, first []learner) error
}

// learner is a model of a task.
type learner interface {
	Params() *layers.Params
	Loss(b *layers.Build, in layers.Inputs) []*G.Node
	examples(random *rand.Rand) train.Source
	// examine tests the model on new examples. It returns a function that adds the shares of right answers to a report.
	examine(ctx context.Context, random *rand.Rand) (record func(*modelReport), err error)
}

// run trains the models of a task from all seeds and compares them.
func (c *comparison) run(ctx context.Context, t task) (*taskReport, error) {
	r := &t.report
	if c.options.Steps > 0 {
		r.Steps = c.options.Steps
	}
	fmt.Fprintf(c.Out, "%s: %d steps of %d\n\n%s\n", t.title, r.Steps, r.Batch, t.head)
	models, first := len(r.Models), []learner(nil)
	n := models * len(c.Seeds)
	began := program.Now()
	train := func(ctx context.Context, i int) (report func() error, err error) {
		model, seed := &r.Models[i%models], c.Seeds[i/models]
		m, err := t.create(i%models, layers.NewParams(tensor.Float32, seed).Scope(""))
		if err != nil {
			return nil, err
		}
		loss, err := c.train(ctx, m, r, seed)
		if err != nil {
			return nil, err
		}
		record, err := m.examine(ctx, streamed(seed, testStream))
		return func() error {
			if i < models {
				first = append(first, m)
			}
			model.Parameters, model.Loss = m.Params().Count(), append(model.Loss, loss)
			record(model)
			fmt.Fprintf(c.Out, "%6d  %-12s %10d %9.4f%s\n", seed, model.Name, model.Parameters, loss, t.results(*model))
			return nil
		}, err
	}
	if err := c.Each(ctx, n, r.Steps, runtime.GOMAXPROCS(0), train); err != nil {
		return nil, err
	}
	r.Seconds = program.Since(began).Seconds()
	return r, t.compare(ctx, c, r, first)
}

// The streams of a seed's random numbers.
const (
	trainStream = iota
	testStream
	shownStream
)

// streamed returns the random numbers of a seed's stream.
func streamed(seed int64, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(seed), stream))
}

// warmup is the number of steps before the highest learning rate.
const warmup = 50

// train trains a model with the settings of its task. It returns the mean loss of the last steps.
func (c *comparison) train(ctx context.Context, m learner, r *taskReport, seed int64) (mean float64, err error) {
	last := min(50, r.Steps)
	l, err := loop.New(m.Params(), m.Loss, loop.Config{
		Steps: r.Steps,
		StepConfig: train.StepConfig{
			Solver: train.SolverConfig{Name: train.AdamW, Beta2: 0.99},
			Schedule: train.ScheduleConfig{
				Schedule: train.CosineLR{Peak: r.Rate, WarmupSteps: min(warmup, r.Steps/4), Steps: r.Steps}},
			ClipNorm: 1, Seed: seed,
		},
		OnStep: func(s train.StepResult) {
			if s.Step > r.Steps-last {
				mean += s.Loss / float64(last)
			}
			c.Step(s.Loss)
		},
	})
	if err != nil {
		return 0, err
	}
	err = l.Run(ctx, m.examples(streamed(seed, trainStream)), nil)
	return mean, err
}
