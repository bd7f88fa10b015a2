package kernel

import "attention/internal/parallel"

func mulGo[F Float](z, x, y []F) { ofTwo(z, x, y, func(x, y F) F { return x * y }) }
func subGo[F Float](z, x, y []F) { ofTwo(z, x, y, func(x, y F) F { return x - y }) }
func divGo[F Float](z, x, y []F) { ofTwo(z, x, y, func(x, y F) F { return x / y }) }

// Scale writes c·x to y, of one length. y may be x.
func Scale[F Float](y, x []F, c F) { Apply(Multiple, Settings{float64(c)}, y, x) }

func scaleGo[F Float](y, x []F, c F) { ofOne(y, x, func(x F) F { return c * x }) }

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

func (c addCall[F]) Do(lo, hi int) { addRows(chosenPath, 1, hi-lo, c.z[lo:hi], c.x[lo:hi], c.y[lo:hi]) }

type addRowsCall[F Float] struct{ z, x, row []F }

func (c addRowsCall[F]) Do(lo, hi int) {
	cols := len(c.row)
	addRows(chosenPath, hi-lo, cols, c.z[lo*cols:hi*cols], c.x[lo*cols:hi*cols], c.row)
}

func addRowsGo[F Float](rows, cols int, z, x, y []F) {
	for i := range rows {
		zi, xi := z[i*cols:][:cols], x[i*cols:][:cols]
		for j, v := range y[:cols] {
			zi[j] = xi[j] + v
		}
	}
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
	sumRows(chosenPath, len(c.x)/cols, hi-lo, cols, c.y[lo:hi], c.x[lo:])
}

func sumRowsGo[F Float](rows, n, ld int, y, x []F) {
	y = y[:n]
	for i := range rows {
		for j, v := range x[i*ld:][:n] {
			y[j] += v
		}
	}
}

// SumSquares returns Σ x², summed in float64.
func SumSquares[F Float](x []F) float64 { return sumSquares(chosenPath, x) }

func sumSquaresGo[F Float](x []F) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}
