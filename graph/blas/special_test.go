package blas

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/blas"
)

// An infinity in a row of B reaches the rows that the triangle connects it with, and no other: the zeros beside the
// triangle are not multiplied.
func TestTrianglesKeepInfinitiesWhereTheyBelong(t *testing.T) {
	const m, n, at = 70, 40, 33
	for _, ul := range []blas.Uplo{blas.Upper, blas.Lower} {
		a, b := make([]float64, m*m), make([]float64, m*n)
		for i := range m {
			for j := range m {
				a[i*m+j] = 0.001
			}
			a[i*m+i] = 1
		}
		b[at*n] = math.Inf(1)
		for _, solve := range []bool{false, true} {
			x := append([]float64(nil), b...)
			if solve {
				Implementation{}.Dtrsm(blas.Left, ul, blas.NoTrans, blas.NonUnit, m, n, 1, a, m, x, n)
			} else {
				Implementation{}.Dtrmm(blas.Left, ul, blas.NoTrans, blas.NonUnit, m, n, 1, a, m, x, n)
			}
			for i := range m {
				reached := i == at || (i < at) == (ul == blas.Upper)
				finite := !math.IsInf(x[i*n], 0) && !math.IsNaN(x[i*n])
				require.Equal(t, !reached, finite, "%c solve=%v: row %d is %v", ul, solve, i, x[i*n])
				require.Zero(t, x[i*n+1], "another column")
			}
		}
	}
}

// The kernels divide even by a diagonal so small that its inverse overflows.
func TestTrsmDividesByTinyNumbers(t *testing.T) {
	const n = 40
	a, b := make([]float32, n*n), make([]float32, n*n)
	for i := range n {
		a[i*n+i], b[i*n+i] = 1e-40, 3e-40
	}
	Implementation{}.Strsm(blas.Left, blas.Upper, blas.NoTrans, blas.NonUnit, n, n, 1, a, n, b, n)
	for i := range n {
		require.InDelta(t, 3, b[i*n+i], 1e-4) // 1e-40 has 17 bits of precision
	}
}
