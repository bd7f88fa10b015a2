// Package blas implements gonum's BLAS on this module's kernels: products of matrices, of matrices and vectors, of
// triangular and symmetric matrices, and solving with triangles, in float32 and float64, without cgo. A program that
// uses gonum becomes faster by one line for each type:
//
//	blas32.Use(blas.Implementation{}) // gonum.org/v1/gonum/blas/blas32
//	blas64.Use(blas.Implementation{}) // gonum.org/v1/gonum/blas/blas64; package mat uses it too
//
// and one that uses Gorgonia's own machines and tensors by
//
//	gorgonia.Use(blas.Implementation{}) // for package tensor too
//
// The functions are those of the reference BLAS for row-major matrices, as package gonum.org/v1/gonum/blas/gonum
// describes them. These are on the kernels, in both types:
//
//	gemm symm syrk syr2k trmm trsm      matrix with matrix
//	gemv ger symv syr syr2 trmv trsv    matrix with vector
//	dot axpy scal nrm2                  vectors side by side in memory
//
// The others are gonum's, and so are the complex ones, for which cblas64.Use and cblas128.Use take an Implementation
// too. What is so small that gonum is faster, gonum computes.
//
// With β = 0 a result is overwritten and never read, so it may hold NaN. Zeros of a matrix are multiplied like other
// numbers (0·∞ is NaN), except by gonum in what is small. Where gonum v0.16.0 errs, this package does not: its Sger and
// Dger read outside of vectors with negative increments, its Ssyrk and Dsyrk of a transposed matrix add to 0·C, and its
// Sgemv (without assembly Dgemv too) of one with β = 0 clears y to the end of the slice.
//
// A call shares its work among up to GOMAXPROCS goroutines; there is no other setting of threads. The bits of a result
// do not depend on their number, but they do on the processor's vectors: AVX-512, AVX2, NEON, or none. Calls may run at
// once, as long as no result overlaps with what another call reads or writes. They allocate nothing once their
// workspace has grown.
//
// Unlike the rest of this module, and as gonum's interface has no room for errors, a call with arguments that do not
// fit panics, with gonum's own words, before it has written anything.
package blas
