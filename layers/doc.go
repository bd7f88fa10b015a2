// Package layers holds attention as trainable layers: parameters with PyTorch's
// names and initial values, and modules that wire the functions of
// attention/graph into expression graphs over them.
//
// Attention is the core: multi-head self- and cross-attention with all that is usual
// today. The variants of chapter 3, "Coding attention mechanisms", of Sebastian Raschka's
// Build a Large Language Model from Scratch, here called the chapter, are presets of it.
// Block, GPT and Seq2Seq are models built on it.
//
// Parameters belong to no graph. A Build is one graph under construction, in
// Train or Eval mode; every graph built over the same Params sees the same
// tensors, so a step of training is at once what the evaluation graph computes.
package layers
