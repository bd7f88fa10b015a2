package why

import (
	"context"
	"fmt"
	"math/rand/v2"

	"attention/layers"
	"attention/train"

	G "gorgonia.org/gorgonia"
)

// task is a task that several models learn from the same examples.
type task struct {
	name        string
	steps       int      // of each training, without --steps
	batch       int      // examples of a step
	rate        float64  // the highest learning rate
	models      []string // names
	title, head string   // of the table of trained models
	create      func(model string, seed int64) (learner, error)
	// describe adds the task's own fields to its report, which it puts into the report of all tasks.
	describe func(all *report, r *taskReport)
	// results returns the end of a model's row in the table, for a seed by its number.
	results func(r modelReport, seed int) string
	// compare prints and draws what the models of the first seed have learnt.
	compare func(ctx context.Context, c *comparison, r *taskReport, first []learner) error
}

// tasks returns the tasks in the order in which they run.
func tasks() []task { return []task{reverse(), picture()} }

// learner is a model of a task.
type learner interface {
	Params() *layers.Params
	examples(random *rand.Rand) train.Source
	exampleLoss(b *layers.Build) (*G.Node, error)
	// examine puts the shares of right answers to new examples of a seed, the i-th, into the report.
	examine(ctx context.Context, seed int64, r *modelReport, i int) error
}

// run trains the models of a task from all seeds, and compares them.
func (c *comparison) run(ctx context.Context, t task) error {
	r := c.report.add(t)
	if c.options.steps > 0 {
		r.Steps = c.options.steps
	}
	fmt.Fprintf(c.out, "%s: %d steps of %d\n\n%s\n", t.title, r.Steps, r.Batch, t.head)
	first := make([]learner, len(t.models))
	all := &trials{models: len(t.models), seeds: len(c.seeds), steps: r.Steps, rate: r.Rate,
		run: func(ctx context.Context, all *trials, model, seed int) error {
			m, err := t.create(t.models[model], c.seeds[seed])
			if err != nil {
				return err
			}
			if seed == 0 {
				first[model] = m
			}
			return all.learn(ctx, m, c.seeds[seed], &r.Models[model], seed)
		},
		print: func(model, seed int) {
			m := r.Models[model]
			fmt.Fprintf(c.out, "%6d  %-12s %10d %9.4f%s\n", c.seeds[seed], m.Name, m.Parameters, m.Loss[seed],
				t.results(m, seed))
		}}
	var err error
	if r.Seconds, err = all.all(ctx, c.out); err != nil {
		return err
	}
	return t.compare(ctx, c, r, first)
}

// learn trains a model from a seed, the i-th, and puts its results into the report.
func (t *trials) learn(ctx context.Context, m learner, seed int64, r *modelReport, i int) (err error) {
	r.Loss[i], err = t.train(ctx, m.Params(), m.examples(streamed(seed, trainStream)), seed, m.exampleLoss)
	if err != nil {
		return err
	}
	if i == 0 {
		r.Parameters = m.Params().Count()
	}
	return m.examine(ctx, seed, r, i)
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
