package simd

import "math"

// The steps between the products of a tile of scores, in plain Go. The functions without "Go" in their name choose the
// best version for this processor. They may read and write beyond the n columns of a row, up to a whole vector.

// maxColumnsGo writes the maximum of each of n columns to top. A NaN may be ignored, because it also reaches the
// results through its exponential.
func maxColumnsGo[F Float](rows, n int, x []F, ld int, top []F) {
	top = top[:n]
	copy(top, x)
	for i := 1; i < rows; i++ {
		for j, v := range x[i*ld:][:n] {
			if v > top[j] {
				top[j] = v
			}
		}
	}
}

// expColumnsGo sets x ← exp(x − shift) with one shift for each of n columns, and adds each column to sum.
func expColumnsGo[F Float](rows, n int, x []F, ld int, shift, sum []F) {
	shift, sum = shift[:n], sum[:n]
	for i := range rows {
		for j, v := range x[i*ld:][:n] {
			e := expOf(v - shift[j])
			x[i*ld+j] = e
			sum[j] += e
		}
	}
}

// momentColumnsGo is expColumnsGo that also adds exp(x − shift)·(x − shift) of each column to moment; −∞ adds 0.
func momentColumnsGo[F Float](rows, n int, x []F, ld int, shift, sum, moment []F) {
	shift, sum, moment = shift[:n], sum[:n], moment[:n]
	for i := range rows {
		for j, v := range x[i*ld:][:n] {
			u := v - shift[j]
			e := expOf(u)
			x[i*ld+j] = e
			sum[j] += e
			if e != 0 {
				moment[j] += e * u
			}
		}
	}
}

// hideColumnsGo sets the elements outside the rows lo ≤ row < hi of each of n columns to −∞.
func hideColumnsGo[F Float](rows, n int, x []F, ld int, lo, hi []F) {
	lo, hi = lo[:n], hi[:n]
	for i := range rows {
		line, row := x[i*ld:][:n], F(i)
		for j := range line {
			if row < lo[j] || row >= hi[j] {
				line[j] = NegInf[F]()
			}
		}
	}
}

// clearRowsGo sets the elements outside the columns lo ≤ column < hi of each row to 0. columns holds 0, 1, 2, …
func clearRowsGo[F Float](rows, n int, x []F, ld int, columns, lo, hi []F) {
	for i := range rows {
		line := x[i*ld:][:n]
		for j, column := range columns[:n] {
			if column < lo[i] || column >= hi[i] {
				line[j] = 0
			}
		}
	}
}

// scaleRowsGo sets y[i·ld+j] ← factor[i]·x[i·n+j] for j < n.
func scaleRowsGo[F Float](rows, n int, y []F, ld int, x, factor []F) {
	for i := range rows {
		scaleInto(y[i*ld:][:n], x[i*n:], factor[i])
	}
}

// gradientRowsGo turns scores p and gradients dp of the weights, one query in a row, into the weights and the
// gradients of the scores.
//
//	p = factor·exp(p − shift);  dp = p·(dp − delta − low)
func gradientRowsGo[F Float](rows, n int, p, dp []F, ld int, shift, factor, delta, low []F) {
	for i := range rows {
		dp := dp[i*ld:][:n]
		for j, v := range p[i*ld:][:n] {
			e := factor[i] * expOf(v-shift[i])
			p[i*ld+j] = e
			dp[j] = e * (dp[j] - delta[i] - low[i])
		}
	}
}

// capRowsGo sets x ← c·tanh(x/c), and slope, if it is given, to the derivative.
//
//	y = c·tanh(x/c):  dy/dx = 1/cosh²(x/c)
func capRowsGo[F Float](rows, n int, x []F, ld int, slope []F, c F) {
	for i := range rows {
		for j, v := range x[i*ld:][:n] {
			x[i*ld+j] = c * F(math.Tanh(float64(v/c)))
			if slope != nil {
				s := 1 / math.Cosh(float64(v/c))
				slope[i*ld+j] = F(s * s)
			}
		}
	}
}

// dropRowsGo multiplies by scale or, where mix(start + row·rowStep + column·columnStep) < below, by 0, which turns ±∞
// into NaN.
func dropRowsGo[F Float](rows, n int, x []F, ld int, start, columnStep, rowStep, below uint64, scale F) {
	for i := range rows {
		line, at := x[i*ld:][:n], start
		for j := range line {
			if Mix(at) >= below {
				line[j] *= scale
			} else {
				line[j] -= line[j]
			}
			at += columnStep
		}
		start += rowStep
	}
}

// scaleInto writes f·x to y.
func scaleInto[F Float](y, x []F, f F) {
	x = x[:len(y)]
	for i, v := range x {
		y[i] = v * f
	}
}

// DropStrided is DropRows for n elements of x with a given stride; start and step are those of the elements.
func DropStrided[F Float](n int, x []F, stride int, start, step, below uint64, scale F) {
	dropRowsGo(n, 1, x, stride, start, 0, step, below, scale)
}
