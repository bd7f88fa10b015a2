package translate

import (
	"attention/cmd/attention/internal/translations"
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

// flagOf has the flags of the settings' fields by their paths in config.json.
var flagOf = map[string]string{"training.steps": "--steps", "batch": "--batch", "model.embed_dim": "--width",
	"model.num_heads": "--heads", "model.num_layers": "--blocks"}

// trainConfig returns the config of the steps of a run.
func trainConfig(s translations.Settings, about map[string]string) loop.Config {
	return loop.Config{
		Steps: s.Training.Steps, EvalEvery: evalSteps, About: about,
		StepConfig: train.StepConfig{
			Solver: train.SolverConfig{Name: train.AdamW, Beta2: 0.99},
			Schedule: train.ScheduleConfig{
				Schedule: train.CosineLR{Peak: peakRate, WarmupSteps: min(warmup, s.Training.Steps/4),
					Steps: s.Training.Steps}},
			ClipNorm: 1, Seed: s.Training.Seed,
		},
	}
}
