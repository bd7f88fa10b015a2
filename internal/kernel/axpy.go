package kernel

import "attention/internal/parallel"

// Axpy computes y ← α·x + y for x and y of one length. With α = 0, y is unchanged.
func Axpy[F Float](alpha F, x, y []F) {
	fit("axpy", len(x), len(y))
	if alpha != 0 {
		parallel.Do(axpyCall[F]{alpha, x, y}, len(x), grainFast)
	}
}

type axpyCall[F Float] struct {
	alpha F
	x, y  []F
}

func (c axpyCall[F]) Do(lo, hi int) {
	one := [1]F{1}
	addOuter(chosenPath, 1, hi-lo, 0, c.alpha, c.y[lo:hi], one[:], c.x[lo:hi])
}

// weighGo adds α·x[i] times row i of A to y, for every i.
func weighGo[F Float](alpha F, a []F, aRow int, x, y []F) {
	for i, v := range x {
		w := alpha * v
		row := a[i*aRow:][:len(y)]
		for j, v := range row {
			y[j] += w * v
		}
	}
}

// addOuterGo adds α·x·yᵀ to the (rows,n) matrix A, whose rows begin ld elements apart.
func addOuterGo[F Float](rows, n, ld int, alpha F, a, x, y []F) {
	for i := range rows {
		w := alpha * x[i]
		row := a[i*ld:][:n]
		for j, v := range y[:n] {
			row[j] += w * v
		}
	}
}
