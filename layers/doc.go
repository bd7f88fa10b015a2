// Package layers has attention as trainable layers: parameters with PyTorch's names and
// initial values, and modules that wire the functions of attention/graph into expression
// graphs over them.
//
// Attention is the core: multi-head self-attention and cross-attention with the variants that current models use.
// Block, Decoder, Seq2Seq and ViT are built on it; GPT-2 and Llama are configs of a Decoder. Package chapter has the
// layers of a book's chapter as presets of Attention. RNNSeq2Seq is the older encoder–decoder of GRUs.
//
// Parameters belong to no graph. A Build is one graph under construction, in Train or
// Eval mode. All graphs over the same Params share the tensors, so an evaluation graph
// computes with the weights of the last training step.
//
// A Func computes a formula over tensors of any shape, and builds a graph for each shape. A Build has one shape: B, T
// and S are fixed when its inputs are declared. To train a loss, use train.NewStepFunc with its formula, for batches of
// any shape, or train.NewStep with the loss of a Build.
//
// README.md in this folder has the settings of Attention and its masks, and cookbook.md has whole programs.
//
// A build remembers every call of an Attention. Build.Calls finds calls by the path of their layer, and a call has
// three views of its computation: Weights, of size T·S; Stats of the weights, in memory of size T, which the layer's
// fused op computes after Build.Observe; and the Operands of scores and output. Package heads reads them after a run.
//
// Letters in shapes: B batch, T query length, S key length, E model width, H query heads,
// K key/value heads, D head width, Dv value width, V vocabulary.
package layers
