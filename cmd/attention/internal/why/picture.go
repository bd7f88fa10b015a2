package why

import (
	"context"
	"fmt"
	"math/rand/v2"

	"attention/layers"
	"attention/train"
	"attention/train/tasks/tiles"
)

// pictureTask is the task's name, and pictureSteps the default number of training steps of each model.
const (
	pictureTask  = "picture"
	pictureSteps = 2000
	pictureBatch = 32
	testPictures = 320 // of each seed
)

// picture returns the task in which some tiles of a picture ask for a digit of another tile.
func picture() task {
	return task{
		name: pictureTask,
		report: taskReport{Steps: pictureSteps, Batch: pictureBatch, Rate: 0.003, Pictures: testPictures,
			Chance: 1.0 / tiles.Digits, Models: []modelReport{{Name: "attention"}, {Name: "each alone"}}},
		title: fmt.Sprintf("Pictures of %d x %d tiles, and what arrows and colours ask for", tiles.Side, tiles.Side),
		head: fmt.Sprintf("%39s  right answers, %%: of\n%6s  %-12s %10s %9s %9s %8s %8s", "",
			"seed", "model", "parameters", "loss", "digits", "arrows", "colours"),
		create: newEye,
		results: func(m modelReport) string {
			last := len(m.Loss) - 1
			return fmt.Sprintf(" %9.1f %8.1f %8.1f", 100*m.Digits[last], 100*m.Arrows[last], 100*m.Colours[last])
		},
		compare: func(ctx context.Context, c *comparison, r *taskReport, models []learner) error {
			c.printFocus(r)
			return c.drawFocus(ctx, models[0].(eye))
		},
	}
}

// eye is a model that learns to answer.
type eye struct{ *tiles.Model }

// newEye makes the model with attention, or the other one.
func newEye(model int, s layers.Scope) (learner, error) {
	m, err := tiles.New(s, tiles.Config{Alone: model > 0})
	return eye{m}, err
}

func (eye) examples(random *rand.Rand) train.Source { return tiles.NewPictures(pictureBatch, random) }

func (m eye) examine(ctx context.Context, random *rand.Rand) (record func(*modelReport), err error) {
	marks, err := m.Exam(ctx, tiles.NewPictures(pictureBatch, random), testPictures/pictureBatch)
	return func(r *modelReport) {
		r.Digits, r.Arrows = append(r.Digits, marks.Digits), append(r.Arrows, marks.Arrows)
		r.Colours = append(r.Colours, marks.Colours)
		if marks.Focus != nil {
			r.Focus = append(r.Focus, marks.Focus)
		}
	}, err
}
