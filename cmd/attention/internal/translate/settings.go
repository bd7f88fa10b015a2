package translate

import (
	"strings"

	"attention/cmd/attention/internal/translations"
	"attention/train"
	"attention/train/checkpoint"
)

// Settings that have no flag.
const (
	peakRate  = 0.003
	warmup    = 100 // steps
	evalSteps = 100 // between two evaluations
)

// checkpoints sets when a run saves.
var checkpoints = checkpoint.Config{Every: evalSteps, Keep: 2}

// flagOf returns the flag of a field of the settings by its path in JSON.
func flagOf(path string) string { return "--" + path[strings.LastIndexByte(path, '.')+1:] }

// trainConfig returns what a run's settings make of the steps.
func trainConfig(s translations.Settings, about map[string]string) train.Config {
	return train.Config{
		Steps: s.Training.Steps, EvalEvery: evalSteps, About: about,
		StepConfig: train.StepConfig{
			Solver: train.SolverConfig{Name: train.AdamW, Beta2: 0.99},
			Schedule: train.ScheduleConfig{
				Schedule: train.CosineLR{Peak: peakRate, WarmupSteps: min(warmup, s.Training.Steps/4), Steps: s.Training.Steps}},
			ClipNorm: 1, Seed: s.Training.Seed,
		},
	}
}
