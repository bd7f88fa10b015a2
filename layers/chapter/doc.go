// Package chapter has the attention layers of chapter 3, "Coding attention mechanisms",
// of Sebastian Raschka's Build a Large Language Model from Scratch as presets of
// layers.Attention, the first one, which has no weights to train, as a layer of its own, and
// the smallest language model to train them in. Sections walks through the chapter step by step.
package chapter
