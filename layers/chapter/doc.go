// Package chapter has the attention layers of chapter 3, "Coding attention mechanisms",
// of Sebastian Raschka's Build a Large Language Model from Scratch: most as presets of
// layers.Attention, the two that are different as layers of their own, and the smallest
// language model to train them in. Sections walks through the chapter step by step.
package chapter
