// Package graph holds attention as functions from nodes to nodes of a Gorgonia
// expression graph: matrix products, heads, masks, softmax, dropout, scaled dot-product
// attention and its additive origin, and what a small language model needs around them.
//
// Every function checks its arguments before it changes the graph and returns an error that names the argument, the
// value it got and the value it wants. Every op except ArgMax and the ops with a cache is differentiable by
// gorgonia.Grad; gradients are not differentiable again. All ops take float32 or float64, run on Gorgonia's tape machine
// as well as on attention/graph/machine, and return the same bits on both.
//
// Start with Attention and FusedAttention, or with LinearAttention if time and memory must grow linearly with the
// length. The layers of package attention/layers add parameters; a layers.Func accepts tensors of any shape.
// machine.ForGraph runs a graph, and train.NewStep trains one.
//
// Ops run on the best kernels for the processor. ATTENTION_KERNELS=go, avx2, avx512 or neon in the environment chooses
// others, whose sums differ in their last digits. If the processor does not have them, every function returns that
// error.
//
// Gorgonia keeps some state that all graphs share: build graphs, and call its Grad, in one goroutine at a time. Machines
// may run concurrently.
//
// Besides attention the package has
//
//	reductions   Sum Mean Max along any axes, ArgMax TopK, MaskedMean MaskedMax over tokens
//	losses       CrossEntropy MSE L1 Huber SmoothL1 BCEWithLogits KLDiv, each with a Reduction
//	arithmetic   Add Sub Mul Div Where, broadcast as in torch; Scale Clamp and the activations
//
// with torch's names and meanings. Zero in a config means torch's default. Sums are computed in float64 in blocks that
// depend on the shape alone: their bits do not depend on the number of processors, and a float32 loss agrees with the
// float64 loss to 1e-6 at any size. ArgMax and TopK return ids as ints, which Embedding accepts; ids have no gradient.
// Equal elements share the gradient of Max and MaskedMax, as in torch.amax; TopK passes its gradient to the elements
// that it returns.
//
// Letters in shapes:
//
//	B batch          T query length    S key length
//	E model width    H query heads     K key/value heads
//	D head width     Dv value width    V vocabulary
//	A hidden width of additive attention
//	M, P outer and N inner axis of a product that is none of these; R rows
//
// A shape (…, T, S) has any number of leading axes.
package graph
