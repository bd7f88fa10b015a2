package blas

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/blas"
)

// An infinity in a row of B reaches the rows that the triangle leads to, and no other: zeros that stand for nothing are
// not multiplied.
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

// A diagonal so small that its inverse overflows still divides.
func TestTrsmDividesByTinyNumbers(t *testing.T) {
	const n = 40
	a, b := make([]float32, n*n), make([]float32, n*n)
	for i := range n {
		a[i*n+i], b[i*n+i] = 1e-40, 3e-40
	}
	Implementation{}.Strsm(blas.Left, blas.Upper, blas.NoTrans, blas.NonUnit, n, n, 1, a, n, b, n)
	for i := range n {
		require.InDelta(t, 3, b[i*n+i], 1e-4) // 1e-40 has 17 bits
	}
}

// Squares that overflow or get lost do not spoil a norm.
func TestNormsOfHugeAndTinyNumbers(t *testing.T) {
	for _, v := range []float64{1e-200, 1e-160, 1, 1e160, 1e200} {
		x := make([]float64, 100)
		for i := range x {
			x[i] = v
		}
		require.InEpsilon(t, 10*v, Implementation{}.Dnrm2(100, x, 1), 1e-14)
	}
	for _, v := range []float32{1e-40, 1e-25, 1e25, 1e37} {
		x := make([]float32, 100)
		for i := range x {
			x[i] = v
		}
		require.InEpsilon(t, 10*float64(v), float64(Implementation{}.Snrm2(100, x, 1)), 1e-4)
	}
	require.True(t, math.IsInf(Implementation{}.Dnrm2(30, append(make([]float64, 29), math.Inf(-1)), 1), 1))
	require.True(t, math.IsNaN(Implementation{}.Dnrm2(30, append(make([]float64, 29), math.NaN()), 1)))
}
