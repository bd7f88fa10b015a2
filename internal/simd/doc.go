// Package simd has the functions of vectors, rows and tiles on which package kernel is built, for one core: in
// generated assembly for the instruction sets of the processor, and in plain Go with the same meaning. It chooses the
// set when the process starts, and knows which sets and which products of bfloat16 are fast.
//
// Functions check the lengths of their slices before they enter assembly, and panic if one is too short. Callers check
// that lengths fit together. README.md shows what the assembly consists of on each processor.
package simd

//go:generate go -C gen run . ..
