package blas

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"attention/internal/kernel"
)

// Implementation implements the BLAS of package gonum.org/v1/gonum/blas. The methods that it declares are on this
// module's kernels; the others are gonum's. Its zero value is ready for use, by many goroutines at once.
type Implementation struct{ gonum.Implementation }

var (
	_ blas.Float32    = Implementation{}
	_ blas.Float64    = Implementation{}
	_ blas.Complex64  = Implementation{}
	_ blas.Complex128 = Implementation{}
)

// Each function below has one body for both types of elements. It returns false for what it leaves to gonum: arguments
// that do not fit, for which gonum panics; nothing to do; and what is so small that gonum is done before the kernels
// have begun.

// least holds the smallest work of each kind that the kernels take. Only tests change it, to see the kernels do all.
var least = work{
	product:  64,
	triangle: 24,
	vector:   32,
}

// work is how much there is to do.
type work struct {
	product  int // multiply-adds of a product of matrices
	triangle int // rows of a triangular or symmetric matrix
	vector   int // elements of a vector
}

func transposed(t blas.Transpose) kernel.Transpose { return t != blas.NoTrans }

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

// vectorFits reports whether a slice holds a vector of at least one element.
func vectorFits(length, n, inc int) bool {
	if n <= 0 || length <= 0 || inc == 0 {
		return false
	}
	return n-1 <= (length-1)/max(inc, -inc)
}
