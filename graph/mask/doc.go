// Package mask determines which keys each query of an attention sees.
//
// A Mask is one of All, Causal, CausalAt, SlidingWindow, Prefix, KeyLengths, Segments and Keep, or a caller's own Func,
// or masks combined by And, Or and Not. Each kind of mask is one type in one file: its definition, its checks, its JSON
// and the keys that it shows. A mask allocates no memory of size (T, S) unless its input has that size; a Func stores a
// few bytes for each tile of 32 queries and 128 keys.
//
// Package graph computes with masks through Resolve, Bind and KeySet.
//
// Letters: B batch, T query length, S key length, H heads.
package mask
