// Package gradcases has small graphs of every op of package graph. The tests of
// package graph and attention gradcheck compare their gradients with central
// differences. An op is one more row of Cases.
//
// Axes that must not be swapped have different prime lengths.
package gradcases
