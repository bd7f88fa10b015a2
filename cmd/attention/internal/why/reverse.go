package why

import (
	"context"
	"fmt"
	"math/rand/v2"

	"attention/internal/expr"
	"attention/layers"
	"attention/train"

	G "gorgonia.org/gorgonia"
)

// reverseTask is the task's name, reverseSteps how long each model is trained without --steps.
const (
	reverseTask  = "reverse"
	reverseSteps = 1300
	reverseBatch = 32
	testStrings  = 64 // of each length and seed
)

// at returns the share of right strings of a length for each seed.
func (r modelReport) at(length int) []float64 {
	shares := make([]float64, len(r.Exact))
	for i, exact := range r.Exact {
		shares[i] = exact[length-shortest]
	}
	return shares
}

// reverse returns the task of writing strings backwards.
func reverse() task {
	return task{
		name: reverseTask, steps: reverseSteps, batch: reverseBatch, rate: 0.008, models: rivals,
		title: fmt.Sprintf("Strings of %d to %d letters, written backwards", shortest, longest),
		head:  fmt.Sprintf("%6s  %-12s %10s %9s", "seed", "model", "parameters", "loss"),
		create: func(name string, seed int64) (learner, error) {
			m, err := newReverser(name, seed)
			return rival{m}, err
		},
		describe: func(all *report, r *taskReport) {
			all.Reverse, r.Letters, r.Strings = r, letters, testStrings
			for n := shortest; n <= longest; n++ {
				r.Lengths = append(r.Lengths, n)
			}
			for i := range r.Models {
				r.Models[i].Exact = make([][]float64, len(all.Seeds))
			}
		},
		results: func(modelReport, int) string { return "" },
		compare: compareRivals,
	}
}

// rival is a model that learns to reverse.
type rival struct{ reverser }

func (rival) examples(random *rand.Rand) train.Source { return newStringBatch(reverseBatch, random) }

func (m rival) exampleLoss(b *layers.Build) (*G.Node, error) {
	source, target, lengths, targets := stringInputs(b, reverseBatch)
	return m.Loss(b, source, target, lengths, targets)
}

func (m rival) examine(ctx context.Context, seed int64, r *modelReport, i int) error {
	var j *judge
	err := expr.Building(func() (err error) { j, err = newJudge(m, testStrings); return err })
	if err != nil {
		return err
	}
	r.Exact[i], err = j.exact(ctx, testStrings, seed)
	return err
}

// compareRivals prints and draws what the models have learnt.
func compareRivals(ctx context.Context, c *comparison, r *taskReport, models []learner) error {
	c.printReverse(r)
	if err := c.printWritings(ctx, models); err != nil {
		return err
	}
	if err := c.draw("reverse.png", r.write); err != nil {
		return err
	}
	return c.drawReverseAttention(models)
}
