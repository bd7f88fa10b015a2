// Package train moves weights: a loop that steps a model towards a smaller loss,
// with solvers that update parameters in place, learning rate schedules, gradient
// clipping and accumulation, and checkpoints. It knows a model only as parameters
// and a loss, and data only as a Source of batches; train/text has sources of text.
//
// Everything here is deterministic: the same configs, seeds and data give the same
// bits. A run that was stopped or killed and resumed from a checkpoint
// (Checkpoints, Loop.Save) gives the bits of one that was not: a checkpoint holds
// the parameters, the solver's state, the number of steps and the source's position.
//
// Configs are plain structs with JSON. Their zero values are the documented
// defaults, and Validate returns what is wrong with one.
package train
