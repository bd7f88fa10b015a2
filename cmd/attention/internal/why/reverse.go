package why

import (
	"context"
	"fmt"

	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// What every model of the task has in common.
const (
	reverseSteps = 1300
	reverseBatch = 32
	reverseRate  = 0.008
	testStrings  = 64 // of each length and seed
)

// reverseReport is what report.json tells of the task.
type reverseReport struct {
	Steps   int           `json:"steps"`
	Batch   int           `json:"batch"`
	Rate    float64       `json:"learning_rate"`
	Letters string        `json:"letters"`
	Seconds float64       `json:"seconds"`      // of all trainings, some side by side
	Strings int           `json:"test_strings"` // of each length and seed
	Lengths []int         `json:"lengths"`
	Models  []rivalResult `json:"models"`
}

// rivalResult is what became of one model. The outer axis is that of the seeds.
type rivalResult struct {
	Name       string      `json:"name"`
	Parameters int         `json:"parameters"`
	Loss       []float64   `json:"loss"`  // of the last steps, in nats a letter
	Exact      [][]float64 `json:"exact"` // the share of strings of each length that are right
}

// at returns the shares of all seeds for a length.
func (r rivalResult) at(length int) []float64 {
	shares := make([]float64, len(r.Exact))
	for i, exact := range r.Exact {
		shares[i] = exact[length-shortest]
	}
	return shares
}

// reverse runs the task.
func (c *comparison) reverse(ctx context.Context) error {
	r := &reverseReport{Steps: c.steps(reverseSteps), Batch: reverseBatch, Rate: reverseRate, Letters: letters,
		Strings: testStrings}
	for n := shortest; n <= longest; n++ {
		r.Lengths = append(r.Lengths, n)
	}
	for _, name := range rivals {
		r.Models = append(r.Models, rivalResult{Name: name, Loss: make([]float64, len(c.seeds)),
			Exact: make([][]float64, len(c.seeds))})
	}
	c.report.Reverse = r
	fmt.Fprintf(c.out, "Strings of %d to %d letters, written backwards: %d steps of %d\n\n", shortest, longest,
		r.Steps, r.Batch)
	fmt.Fprintf(c.out, "%6s  %-12s %10s %9s\n", "seed", "model", "parameters", "loss")
	models := make([]reverser, len(rivals)) // of the first seed
	t := &trials{models: len(rivals), seeds: len(c.seeds), steps: r.Steps, rate: r.Rate,
		run: func(ctx context.Context, t *trials, model, seed int) error {
			m, err := r.Models[model].train(ctx, t, c.seeds[seed], seed)
			if seed == 0 {
				models[model] = m
			}
			return err
		},
		print: func(model, seed int) {
			m := r.Models[model]
			fmt.Fprintf(c.out, "%6d  %-12s %10d %9.4f\n", c.seeds[seed], m.Name, m.Parameters, m.Loss[seed])
		}}
	var err error
	if r.Seconds, err = t.all(ctx, c.out); err != nil {
		return err
	}
	c.printReverse(r)
	if err := c.printWritings(ctx, models); err != nil {
		return err
	}
	if err := c.draw("reverse.png", r.write); err != nil {
		return err
	}
	return c.drawReverseAttention(models)
}

// train trains the model from a seed, the i-th, and adds its results.
func (r *rivalResult) train(ctx context.Context, t *trials, seed int64, i int) (reverser, error) {
	m, err := newReverser(r.Name, seed)
	if err != nil {
		return nil, err
	}
	r.Loss[i], err = t.train(ctx, m.Params(), newStringBatch(reverseBatch, streamed(seed, trainStream)), seed,
		func(b *layers.Build) (*G.Node, error) {
			source, target, lengths, targets := stringInputs(b, reverseBatch)
			return m.Loss(b, source, target, lengths, targets)
		})
	if err != nil {
		return nil, err
	}
	t.building.Lock()
	j, err := newJudge(m, testStrings)
	t.building.Unlock()
	if err != nil {
		return nil, err
	}
	if i == 0 {
		r.Parameters = m.Params().Count()
	}
	r.Exact[i], err = j.exact(ctx, testStrings, seed)
	return m, err
}
