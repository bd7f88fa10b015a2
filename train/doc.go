// Package train moves weights: a loop that steps a model towards a smaller loss,
// with solvers that update parameters in place, learning rate schedules, gradient
// clipping and checkpoints; character data in batches; and the n-gram losses that
// a trained model has to beat. It knows a model only as parameters and a loss.
//
// Everything here is deterministic: the same configs, seeds and data give the
// same bits, and what a run needs to go on where it stopped can be taken out
// and put back (Loop.Save, Windows.State).
//
// Configs are plain structs. Their zero values are the documented defaults,
// Validate says what is wrong with one, and they survive a round through JSON.
//
// Letters in shapes: B windows of a batch, T positions of a window.
package train
