// Package chapter has the attention layers of chapter 3, "Coding attention mechanisms",
// of Sebastian Raschka's Build a Large Language Model from Scratch. They are presets of
// layers.Attention, apart from SimpleSelfAttention, which has no weights to train, and the
// additive layer. LanguageModel is the smallest model to train them in. Sections is a walk
// through the chapter, step by step.
package chapter
