// Package train trains models. A Step trains any graph whose loss is one of its nodes;
// a Loop takes the steps of a run, evaluates and saves. There are solvers that update
// parameters in place, learning rate schedules, gradient clipping and accumulation, and
// checkpoints. A model is parameters and a loss, and data a Source of batches: Batches is
// one of tensors, train/text has those of text. Predict and Accuracy show what was learnt.
//
// Everything here is deterministic: the same configs, seeds and data give the same
// bits. A run that was stopped or killed and resumed from a checkpoint
// (Checkpoints, Loop.Save) gives the bits of one that was not. The format of a checkpoint
// is in checkpoint.go.
//
// Configs are plain structs with JSON. Their zero values are the documented
// defaults, and Validate returns an error that names the first wrong field.
package train
