// Package gradcases has small graphs of every op of package graph. The tests of
// package graph and attention gradcheck compare their gradients with central
// differences, and other tests of package graph iterate them. A new op is one more row
// of Cases. The first case of an op is the function of all its nodes, its inputs named
// as the function's arguments.
//
// Axes that must not be swapped have different prime lengths.
package gradcases
