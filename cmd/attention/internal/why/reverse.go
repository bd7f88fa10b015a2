package why

import (
	"context"
	"fmt"

	"attention/cmd/attention/internal/term"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// What every model of the task has in common.
const (
	reverseSteps = 1000
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
	Strings int           `json:"test_strings"` // of each length and seed
	Lengths []int         `json:"lengths"`
	Models  []rivalResult `json:"models"`
}

// rivalResult is what became of one model. The outer axis is that of the seeds.
type rivalResult struct {
	Name       string      `json:"name"`
	Parameters int         `json:"parameters"`
	Seconds    []float64   `json:"seconds"` // of training
	Loss       []float64   `json:"loss"`    // of the last steps, in nats a letter
	Exact      [][]float64 `json:"exact"`   // the share of strings of each length that are right
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
	c.report.Reverse = r
	fmt.Fprintf(c.out, "Strings of %d to %d letters, written backwards\n\n", shortest, longest)
	fmt.Fprintf(c.out, "%-12s %10s %9s %9s\n", "model", "parameters", "loss", "seconds")
	shown := newStringBatch(len(shownLengths), streamed(c.seeds[0], shownStream))
	writings, models := map[string][]string{}, map[string]reverser{}
	shown.drawEach(shownLengths)
	for _, name := range rivals {
		result := rivalResult{Name: name}
		for _, seed := range c.seeds {
			m, err := c.trainRival(ctx, &result, r.Steps, seed)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if models[name] != nil {
				continue
			}
			models[name] = m // of the first seed
			j, err := newJudge(m, len(shownLengths))
			if err != nil {
				return err
			}
			if writings[name], err = j.write(ctx, shown); err != nil {
				return err
			}
		}
		r.Models = append(r.Models, result)
		loss, _, _ := spread(result.Loss)
		seconds, _, _ := spread(result.Seconds)
		fmt.Fprintf(c.out, "%-12s %10d %9.4f %9.1f\n", name, result.Parameters, loss, seconds)
	}
	c.printReverse(r)
	c.printWritings(shown, writings)
	if err := c.draw("reverse.png", r.write); err != nil {
		return err
	}
	return c.drawReverseAttention(models)
}

// trainRival trains a model from one seed and adds its results.
func (c *comparison) trainRival(ctx context.Context, r *rivalResult, steps int, seed int64) (reverser, error) {
	m, err := newReverser(r.Name, seed)
	if err != nil {
		return nil, err
	}
	r.Parameters = m.Params().Count()
	t := trial{steps: steps, rate: reverseRate, seed: seed, bar: term.NewProgress(c.out, steps),
		loss: func(b *layers.Build) (*G.Node, error) {
			source, target, lengths, targets := stringInputs(b, reverseBatch)
			return m.Loss(b, source, target, lengths, targets)
		}}
	loss, seconds, err := t.run(ctx, m.Params(), newStringBatch(reverseBatch, streamed(seed, trainStream)))
	if err != nil {
		return nil, err
	}
	j, err := newJudge(m, testStrings)
	if err != nil {
		return nil, err
	}
	exact, err := j.exact(ctx, testStrings, seed)
	r.Loss, r.Seconds, r.Exact = append(r.Loss, loss), append(r.Seconds, seconds), append(r.Exact, exact)
	return m, err
}
