// Package train moves weights: a loop that steps a model towards a smaller loss,
// with solvers that update parameters in place, learning rate schedules, gradient
// clipping and accumulation, and checkpoints; character data in batches; and the
// n-gram losses that a trained model has to beat. It knows a model only as
// parameters and a loss.
//
// Everything here is deterministic: the same configs, seeds and data give the same
// bits. So do a run and one that was stopped, or killed, and went on from a
// checkpoint (Checkpoints, Loop.Save), in which all is that a run needs: parameters,
// the solver's state, the number of steps, where the source of the batches stands.
//
// Configs are plain structs. Their zero values are the documented defaults,
// Validate says what is wrong with one, and they survive a round through JSON.
//
// Letters in shapes: B windows of a batch, T positions of a window.
package train
