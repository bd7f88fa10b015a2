package small

import (
	"attention/train"
	"attention/train/loop"
)

// Runs are solvers with different states, with and without clipping, a schedule and several
// batches a step.
func Runs() map[string]loop.Config {
	runs := map[string]loop.Config{}
	for name, solver := range map[string]train.SolverConfig{
		"sgd": {Name: train.SGD}, "momentum": {Name: train.SGD, Momentum: 0.9},
		"adam": {Name: train.Adam}, "adamw": {WeightDecay: 0.1},
	} {
		c := Config()
		c.Solver = solver
		runs[name] = c
		c.ClipNorm, c.Seed, c.Accumulate = 2, -5, 3
		c.Schedule = train.ScheduleConfig{Schedule: train.CosineLR{Peak: 0.03, Floor: 0.003, WarmupSteps: 3, Steps: 8}}
		runs["all."+name] = c
	}
	return runs
}

// Trail records a run's steps, without their speed, and its evaluations.
type Trail []any

// Follow makes a run record its steps and evaluations in the trail.
func (l *Trail) Follow(c *loop.Config) {
	c.OnStep = func(s train.StepResult) {
		s.TokensPerSecond = 0
		*l = append(*l, s)
	}
	c.OnEval = func(e loop.Evaluation) { *l = append(*l, e) }
}
