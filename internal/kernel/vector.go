package kernel

// Mul writes x⊙y to z, all of one length. z may be x or y.
func Mul[F Float](z, x, y []F) {
	fit("mul", len(x), len(y), len(z))
	vectorTask[F]{kind: taskMul, a: z, b: x, c: y}.start(len(x), grainFast)
}

func mulPlain[F Float](z, x, y []F) {
	z, y = z[:len(x)], y[:len(x)]
	for i, v := range x {
		z[i] = v * y[i]
	}
}

// Scale writes c·x to y, of one length. y may be x.
func Scale[F Float](y, x []F, c F) {
	fit("scale", len(x), len(y))
	vectorTask[F]{kind: taskScale, a: y, b: x, x: c}.start(len(x), grainFast)
}

func scalePlain[F Float](y, x []F, c F) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = c * v
	}
}

// AddRows adds the row y to every row of x and writes the sums to z, which may be x.
func AddRows[F Float](z, x, y []F) {
	fit("add rows", len(x), len(z))
	rows := fitRows("add rows", len(x), len(y))
	if rows == 1 {
		vectorTask[F]{kind: taskAdd, a: z, b: x, c: y}.start(len(x), grainFast)
		return
	}
	vectorTask[F]{kind: taskAddRows, a: z, b: x, c: y, cols: len(y)}.start(rows, rowGrain(grainFast, len(y)))
}

func addRowsPlain[F Float](rows, cols int, z, x, y []F) {
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
	vectorTask[F]{kind: taskSumRows, a: y, b: x, cols: len(y)}.start(len(y), columnGrain(rows))
}

// columnGrain is how many columns of so many rows are worth a goroutine's while: whole lines of the cache.
func columnGrain(rows int) int { return (1 + grainFast/rows/64) * 64 }

func sumRowsPlain[F Float](rows, n, ld int, y, x []F) {
	y = y[:n]
	for i := range rows {
		for j, v := range x[i*ld:][:n] {
			y[j] += v
		}
	}
}

// SumSquares is Σ x², summed in float64.
func SumSquares[F Float](x []F) float64 { return sumSquaresRun(chosenPath, x) }

func sumSquaresPlain[F Float](x []F) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}
