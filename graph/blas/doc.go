// Package blas implements gonum's BLAS with this module's products of matrices, in float32 and float64, without cgo. A
// program that uses gonum becomes faster by one line for each type:
//
//	blas32.Use(blas.Implementation{}) // gonum.org/v1/gonum/blas/blas32
//	blas64.Use(blas.Implementation{}) // gonum.org/v1/gonum/blas/blas64; package mat uses it too
//
// and a program that uses Gorgonia's own machines and tensors, by
//
//	gorgonia.Use(blas.Implementation{}) // for package tensor too
//
// The functions are those of the reference BLAS for row-major matrices, as package gonum.org/v1/gonum/blas/gonum
// describes them. The functions of level 3, gemm, symm, syrk, syr2k, trmm and trsm, use the kernels in both types. All
// other functions are gonum's: those of vectors (level 1), those of a matrix and a vector (level 2), and the complex
// functions; cblas64.Use and cblas128.Use accept an Implementation, too. gonum also computes small products, because it
// is faster there.
//
// With β = 0 a result is overwritten and never read, so it may hold NaN. Zeros of a matrix are multiplied like other
// numbers (0·∞ is NaN), except in triangles and in small products, which gonum computes.
//
// gonum v0.16.0 has these faults, and so has its newest commit (ac810a10, November 2025). Sger and Dger read outside of
// vectors with negative increments on amd64 (gonum#2105). Sgemv with β = 0 (and Dgemv without assembly) clears y to the
// end of the slice. These functions are level 2, so their faults remain here. Ssyrk and Dsyrk of a transposed matrix
// add to 0·C; the functions of this package do not.
//
// A call of level 3 shares its work among up to GOMAXPROCS goroutines; there is no other setting of threads. The bits
// of a result do not depend on the number of goroutines, but they do depend on the processor's vectors: AVX-512, AVX2,
// NEON, or none. Calls may run concurrently if no result overlaps with the operands or results of another call. They
// allocate nothing once their workspace has grown.
//
// A call with arguments that do not fit panics before it has written anything, with gonum's own message. The rest of
// this module returns errors, but gonum's interface has no room for them.
package blas
