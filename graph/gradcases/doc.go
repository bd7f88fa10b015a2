// Package gradcases holds small graphs of every op of package graph. The tests of package
// graph and the command attention gradcheck compare their gradients with central
// differences; other tests of package graph iterate over them. A new op is one more row of
// Cases. The first case of an op applies the function to all its nodes; its inputs have
// the names of the function's arguments.
//
// Axes that must not be swapped have different prime lengths.
package gradcases
