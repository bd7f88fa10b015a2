// Package train trains models. NewStep is where to begin: a Step trains any graph whose loss is
// one of its nodes, and Step.Run takes a step on a batch. A graph has one shape, so all batches of a
// Step have one; sequences of several lengths are padded and masked.
//
// A Loop takes the steps of a run and evaluates. There are solvers that update parameters in place,
// learning rate schedules, gradient clipping and accumulation. A model is parameters and a loss, and
// data a Source of batches: Batches is a source of tensors, and train/text has sources of text.
// Predict and Accuracy show what a model has learnt.
//
// Everything here is deterministic: the same configs, seeds and data give the same
// bits. Package train/checkpoint saves a run, so that one that was stopped or killed gives the bits
// of one that was not; package train/record records how its weights move; package train/parallel
// lets processes share its steps, with the bits of one.
//
// Configs are plain structs with JSON. Their zero values are the documented
// defaults, and Validate returns an error that names the first wrong field.
package train
