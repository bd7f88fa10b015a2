// Package graph holds attention as functions from nodes to nodes of a Gorgonia
// expression graph: matrix products, heads, masks, softmax, dropout, scaled dot-product
// attention and its additive origin, and what a small language model needs around them.
//
// Every function checks its arguments before it touches the graph and returns an error
// that names the argument, what it got and what it wants. Every op but CachedAttention is
// differentiable by gorgonia.Grad, once; all take float32 or float64, run on Gorgonia's
// tape machine as well as on attention/graph/machine, and give the same bits on both.
//
// Gorgonia keeps some state that all graphs share: build graphs, and call its Grad,
// in one goroutine at a time. Machines may run at once.
//
// Letters, in shapes:
//
//	B batch          T query length    S key length
//	E model width    H query heads     K key/value heads
//	D head width     Dv value width    V vocabulary
//	A hidden width of additive attention
//	M, P outer and N inner axis of a product that is none of these; R rows
//
// A shape (…, T, S) has any number of leading axes.
package graph
