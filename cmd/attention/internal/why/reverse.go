package why

import (
	"context"
	"fmt"
	"image/color"
	"math/rand/v2"

	"attention/layers"
	"attention/train"
	"attention/train/tasks/reversal"
)

// reverseTask is the task's name, and reverseSteps the default number of training steps of each model.
const (
	reverseTask  = "reverse"
	reverseSteps = 1300
	reverseBatch = 32
	testStrings  = 64 // for each length and seed
)

// rivals are the models in the order of the table.
var rivals = []struct {
	kind  reversal.Kind
	mark  byte        // on a terminal
	ink   color.NRGBA // which colour-blind people can distinguish from the others
	width float64     // width of its curve in points; it makes a curve visible behind another one
}{
	{reversal.Squeezed, 's', color.NRGBA{R: 0xd5, G: 0x5e, A: 0xff}, 2},
	{reversal.Attending, 'a', color.NRGBA{G: 0x72, B: 0xb2, A: 0xff}, 6},
	{reversal.Transformer, 't', color.NRGBA{G: 0x9e, B: 0x73, A: 0xff}, 2},
}

// reverse returns the task of writing strings backwards.
func reverse() task {
	r := taskReport{Steps: reverseSteps, Batch: reverseBatch, Rate: 0.008, Letters: reversal.Letters,
		Strings: testStrings}
	for n := reversal.Shortest; n <= reversal.Longest; n++ {
		r.Lengths = append(r.Lengths, n)
	}
	for _, rival := range rivals {
		r.Models = append(r.Models, modelReport{Name: string(rival.kind)})
	}
	return task{
		name: reverseTask, report: r,
		title:   fmt.Sprintf("Strings of %d to %d letters, written backwards", reversal.Shortest, reversal.Longest),
		head:    fmt.Sprintf("%6s  %-12s %10s %9s", "seed", "model", "parameters", "loss"),
		create:  newReverser,
		results: func(modelReport) string { return "" },
		compare: compareRivals,
	}
}

// reverser is a model that learns to reverse.
type reverser struct{ *reversal.Model }

// newReverser makes one of rivals.
func newReverser(model int, s layers.Scope) (learner, error) {
	m, err := reversal.New(s, rivals[model].kind)
	return reverser{m}, err
}

func (reverser) examples(random *rand.Rand) train.Source {
	return reversal.NewStrings(reverseBatch, random)
}

func (m reverser) examine(ctx context.Context, random *rand.Rand) (record func(*modelReport), err error) {
	exact, err := m.Exact(ctx, reversal.NewStrings(testStrings, random))
	return func(r *modelReport) { r.Exact = append(r.Exact, exact) }, err
}

// compareRivals prints and draws what the models have learnt.
func compareRivals(ctx context.Context, c *comparison, r *taskReport, models []learner) error {
	c.printReverse(r)
	if err := c.printWritings(ctx, models); err != nil {
		return err
	}
	if err := c.Write("reverse.png", r.curves().Write); err != nil {
		return err
	}
	if err := c.drawReverseAttention(ctx, models); err != nil {
		return err
	}
	return c.keepRivals(r, models)
}
