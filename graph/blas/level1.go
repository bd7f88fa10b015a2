package blas

import (
	"math"

	"attention/internal/kernel"
)

// Sdot returns Σ x·y.
func (i Implementation) Sdot(n int, x []float32, incX int, y []float32, incY int) float32 {
	if n >= least.dot && sideBySide(n, len(x), incX, len(y), incY) {
		return kernel.Dot(x[:n], y[:n])
	}
	return i.Implementation.Sdot(n, x, incX, y, incY)
}

// Ddot is Sdot of float64.
func (i Implementation) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	if n >= least.dot && sideBySide(n, len(x), incX, len(y), incY) {
		return kernel.Dot(x[:n], y[:n])
	}
	return i.Implementation.Ddot(n, x, incX, y, incY)
}

// Saxpy computes y ← α·x + y.
func (i Implementation) Saxpy(n int, alpha float32, x []float32, incX int, y []float32, incY int) {
	if n >= least.axpy && sideBySide(n, len(x), incX, len(y), incY) {
		kernel.Axpy(alpha, x[:n], y[:n])
		return
	}
	i.Implementation.Saxpy(n, alpha, x, incX, y, incY)
}

// Daxpy is Saxpy of float64.
func (i Implementation) Daxpy(n int, alpha float64, x []float64, incX int, y []float64, incY int) {
	if n >= least.axpy && sideBySide(n, len(x), incX, len(y), incY) {
		kernel.Axpy(alpha, x[:n], y[:n])
		return
	}
	i.Implementation.Daxpy(n, alpha, x, incX, y, incY)
}

// Sscal computes x ← α·x. With α = 0, x is not read.
func (i Implementation) Sscal(n int, alpha float32, x []float32, incX int) {
	if n >= least.scal && alpha != 0 && sideBySide(n, len(x), incX, len(x), incX) {
		kernel.Scale(x[:n], x[:n], alpha)
		return
	}
	i.Implementation.Sscal(n, alpha, x, incX)
}

// Dscal is Sscal of float64.
func (i Implementation) Dscal(n int, alpha float64, x []float64, incX int) {
	if n >= least.scal && alpha != 0 && sideBySide(n, len(x), incX, len(x), incX) {
		kernel.Scale(x[:n], x[:n], alpha)
		return
	}
	i.Implementation.Dscal(n, alpha, x, incX)
}

// Snrm2 returns √Σ x². Squares neither overflow nor get lost.
func (i Implementation) Snrm2(n int, x []float32, incX int) float32 {
	if n >= least.nrm2 && sideBySide(n, len(x), incX, len(x), incX) {
		return float32(math.Sqrt(kernel.SumSquares(x[:n])))
	}
	return i.Implementation.Snrm2(n, x, incX)
}

// Dnrm2 is Snrm2 of float64.
func (i Implementation) Dnrm2(n int, x []float64, incX int) float64 {
	if n >= least.nrm2 && sideBySide(n, len(x), incX, len(x), incX) {
		// Where squares may have overflowed or got lost, gonum scales.
		if sum := kernel.SumSquares(x[:n]); sum >= 0x1p-900 && sum <= math.MaxFloat64 {
			return math.Sqrt(sum)
		}
	}
	return i.Implementation.Dnrm2(n, x, incX)
}

// sideBySide reports whether slices hold vectors of n elements that lie side by side.
func sideBySide(n, lengthX, incX, lengthY, incY int) bool {
	return incX == 1 && incY == 1 && n > 0 && n <= lengthX && n <= lengthY
}
