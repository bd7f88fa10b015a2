package blas

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// Implementation implements the BLAS of package gonum.org/v1/gonum/blas. The methods that it declares use this module's
// kernels; the others are gonum's. The zero value is ready for concurrent use.
type Implementation struct{ gonum.Implementation }

var (
	_ blas.Float32    = Implementation{}
	_ blas.Float64    = Implementation{}
	_ blas.Complex64  = Implementation{}
	_ blas.Complex128 = Implementation{}
)

// Each function has one body for both types of elements. It returns false if gonum has to handle the call: for
// arguments that do not fit, for which gonum panics, and for calls without work. The methods pass small calls to gonum,
// because starting the kernels takes longer than such a call.

// least holds, for each function, the number of multiply-adds from which on the kernels compute it. Only tests change
// it, to make the kernels compute every size.
var least = work{gemm: 100, gemmNT: 150, symm: 250, syrk: 1000, syr2k: 400, triangular: 8000}

type work struct{ gemm, gemmNT, symm, syrk, syr2k, triangular int }

// size returns the rows of the triangular or symmetric matrix that multiplies an (m,n) matrix.
func size(s blas.Side, m, n int) int {
	if s == blas.Left {
		return m
	}
	return n
}

func transposed(t blas.Transpose) bool { return t != blas.NoTrans }

func isTranspose(t blas.Transpose) bool {
	return t == blas.NoTrans || t == blas.Trans || t == blas.ConjTrans
}

func isUplo(ul blas.Uplo) bool { return ul == blas.Upper || ul == blas.Lower }

func isDiag(d blas.Diag) bool { return d == blas.NonUnit || d == blas.Unit }

func isSide(s blas.Side) bool { return s == blas.Left || s == blas.Right }

// matrixFits reports whether a slice holds a matrix of at least one row and column.
func matrixFits(length, rows, cols, ld int) bool {
	return rows > 0 && cols > 0 && ld >= cols && length >= cols && rows-1 <= (length-cols)/ld
}

// storedFits is matrixFits for a matrix that is (rows,cols) after transposition.
func storedFits(t blas.Transpose, length, rows, cols, ld int) bool {
	if t != blas.NoTrans {
		rows, cols = cols, rows
	}
	return isTranspose(t) && matrixFits(length, rows, cols, ld)
}
