// Package kernel computes on plain slices what models are made of: matrix products, attention, softmax and
// other functions of rows, elements and solvers, in SIMD assembly where the processor has it and in plain Go
// elsewhere, on all cores (package parallel).
//
// It knows no graph node and no tensor. Matrices are row-major; the leading dimension of a matrix is the
// distance from one stored row to the next. The assembly is generated: go generate writes it anew from gen. README.md
// says what it is made of on each processor.
//
// Calls whose dimensions, leading dimensions or slice lengths do not fit together are mistakes in the
// calling code, never in a user's input: the kernels check them before touching any memory and panic with
// the name of the argument. Callers check what users give them first.
package kernel

//go:generate go -C gen run . ..
