// Package mask determines which keys each query of an attention sees.
//
// A Mask is made of All, Causal, CausalAt, SlidingWindow, Prefix, KeyLengths, Segments and
// Keep, and of Func, a function of one's own, joined by And, Or and Not. A kind of mask is
// one type in one file: its definition, its checks, its JSON and the keys that it shows. It
// takes no memory of size (T, S) unless its input has that size; a Func keeps a note of each
// tile of 32 queries and 128 keys.
//
// Resolve, Bind and KeySet are how package graph computes with masks.
//
// Letters: B batch, T query length, S key length, H heads.
package mask
