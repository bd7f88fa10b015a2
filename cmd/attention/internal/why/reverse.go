package why

import (
	"context"
	"fmt"
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
	r := taskReport{Steps: reverseSteps, Batch: reverseBatch, Rate: 0.008, Letters: letters, Strings: testStrings}
	for n := shortest; n <= longest; n++ {
		r.Lengths = append(r.Lengths, n)
	}
	for _, rival := range rivals {
		r.Models = append(r.Models, modelReport{Name: rival.name})
	}
	return task{
		name: reverseTask, report: r,
		title:   fmt.Sprintf("Strings of %d to %d letters, written backwards", shortest, longest),
		head:    fmt.Sprintf("%6s  %-12s %10s %9s", "seed", "model", "parameters", "loss"),
		create:  newRival,
		results: func(modelReport) string { return "" },
		compare: compareRivals,
	}
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
	return c.drawReverseAttention(ctx, models)
}
