package why

import (
	"context"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/term"
	"attention/layers"
	"attention/train"
)

// trial trains one model once.
type trial struct {
	steps int
	rate  float64 // the highest learning rate
	seed  int64
	loss  train.Loss
	bar   *term.Progress
}

// warmup is the number of steps before the highest learning rate.
const warmup = 50

// run trains the parameters on a source. It returns the mean loss of the last steps, and how long it took.
func (t trial) run(ctx context.Context, p *layers.Params, source train.Source) (loss, seconds float64, err error) {
	defer t.bar.Clear()
	last := min(50, t.steps)
	loop, err := train.New(p, t.loss, train.Config{
		Steps: t.steps,
		StepConfig: train.StepConfig{
			Solver: train.SolverConfig{Name: train.AdamW, Beta2: 0.99},
			Schedule: train.ScheduleConfig{
				Schedule: train.CosineLR{Peak: t.rate, WarmupSteps: min(warmup, t.steps/4), Steps: t.steps}},
			ClipNorm: 1, Seed: t.seed,
		},
		OnStep: func(s train.StepResult) {
			if s.Step > t.steps-last {
				loss += s.Loss / float64(last)
			}
			t.bar.Step(s.Loss)
		},
	})
	if err != nil {
		return 0, 0, err
	}
	began := program.Now()
	err = loop.Run(ctx, source, nil)
	return loss, program.Since(began).Seconds(), err
}
