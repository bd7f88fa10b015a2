// Package simd has the functions of vectors, rows and tiles for package kernel, for one core: in generated assembly for
// the processor's instruction sets, and with the same meaning in plain Go. It chooses the set when the process starts,
// and knows which sets and which products of bfloat16 are fast.
//
// Functions check the lengths of their slices before they enter assembly, and panic if one is too short. Callers check
// that lengths fit together. README.md describes the assembly for each processor.
package simd

//go:generate go -C gen run . ..
