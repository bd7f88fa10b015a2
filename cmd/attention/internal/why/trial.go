package why

import (
	"context"

	"attention/train"
	"attention/train/loop"
)

// warmup is the number of steps before the highest learning rate.
const warmup = 50

// train trains a model by the settings of its task. It returns the mean loss of the last steps.
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
