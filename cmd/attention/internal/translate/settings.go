package translate

import (
	"attention/cmd/attention/internal/run/settings"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"
)

// Settings that have no flag.
const (
	peakRate  = 0.003
	warmup    = 100 // steps
	evalSteps = 100 // between two evaluations
)

// checkpoints sets when a run saves.
var checkpoints = checkpoint.Config{Every: evalSteps, Keep: 2}

// trainConfig returns the config of the steps of a run.
func trainConfig(c settings.Config, about map[string]string) loop.Config {
	return loop.Config{
		Steps: c.Training.Steps, EvalEvery: evalSteps, About: about,
		StepConfig: train.StepConfig{
			Solver: train.SolverConfig{Name: train.AdamW, Beta2: 0.99},
			Schedule: train.ScheduleConfig{
				Schedule: train.CosineLR{Peak: peakRate, WarmupSteps: min(warmup, c.Training.Steps/4),
					Steps: c.Training.Steps}},
			ClipNorm: 1, Seed: c.Training.Seed,
		},
	}
}
