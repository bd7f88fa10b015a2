// Package kernel implements the operations of models on plain slices: matrix products, attention, softmax and other
// functions of rows, elements and solvers. It uses the instructions of the processor (package simd) and all cores
// (package parallel).
//
// It knows no graph node and no tensor. Matrices are row-major; the leading dimension of a matrix is the
// distance from one stored row to the next.
//
// Calls whose dimensions, leading dimensions or slice lengths do not fit together are mistakes in the calling code,
// never in a user's input: the kernels check them before touching any memory and panic with the name of the argument.
// Callers check users' input first.
package kernel
