package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// Scale writes c·x to y, of one length. y may be x.
func Scale[F Float](y, x []F, c F) { Apply(Multiple, Settings{float64(c)}, y, x) }

// AddRows adds the row y to every row of x and writes the sums to z, which may be x.
func AddRows[F Float](z, x, y []F) {
	fit("add rows", len(x), len(z))
	rows := fitRows("add rows", len(x), len(y))
	if rows == 1 {
		parallel.Do(addCall[F]{z, x, y}, len(x), grainFast)
		return
	}
	parallel.Do(addRowsCall[F]{z, x, y}, rows, rowGrain(grainFast, len(y)))
}

type addCall[F Float] struct{ z, x, y []F }

func (c addCall[F]) Do(lo, hi int) { simd.AddRows(1, hi-lo, c.z[lo:hi], c.x[lo:hi], c.y[lo:hi]) }

type addRowsCall[F Float] struct{ z, x, row []F }

func (c addRowsCall[F]) Do(lo, hi int) {
	cols := len(c.row)
	simd.AddRows(hi-lo, cols, c.z[lo*cols:hi*cols], c.x[lo*cols:hi*cols], c.row)
}

// SumRows writes the sum of all rows of x to y, a row. A column is summed from the first row to the last.
func SumRows[F Float](y, x []F) {
	rows := fitRows("sum rows", len(x), len(y))
	clear(y)
	if rows == 0 {
		return
	}
	parallel.Do(sumRowsCall[F]{y, x}, len(y), columnGrain(rows))
}

type sumRowsCall[F Float] struct{ y, x []F }

func (c sumRowsCall[F]) Do(lo, hi int) {
	cols := len(c.y)
	simd.SumRows(len(c.x)/cols, hi-lo, cols, c.y[lo:hi], c.x[lo:])
}

// SumSquares returns Σ x², summed in float64.
func SumSquares[F Float](x []F) float64 { return simd.SumSquares(x) }
