package kernel

import "math"

// What happens to a tile of scores between its products, in plain Go. The functions without "Go" in their
// name choose the best for this processor; those may write behind the n columns of a row, up to a whole
// vector, and read there.

// maxColumnsGo writes the maximum of each of n columns to top. A NaN may get lost: it reaches the results
// through its exponential.
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
			e := expGo(v - shift[j])
			x[i*ld+j] = e
			sum[j] += e
		}
	}
}

// hideColumnsGo sets to −∞ what lies outside the rows lo ≤ row < hi of each of n columns.
func hideColumnsGo[F Float](rows, n int, x []F, ld int, lo, hi []F) {
	lo, hi = lo[:n], hi[:n]
	for i := range rows {
		line, row := x[i*ld:][:n], F(i)
		for j := range line {
			if row < lo[j] || row >= hi[j] {
				line[j] = lowest[F]()
			}
		}
	}
}

// gradientRowsGo turns scores p and gradients dp of the weights, one query in a row, into the weights and the
// gradients of the scores. Whatever a hidden key holds, its gradient is 0.
//
//	p = exp(p − shift);  dp = p·(dp − delta)
func gradientRowsGo[F Float](rows, n int, p, dp []F, ld int, shift, delta []F) {
	for i := range rows {
		dp := dp[i*ld:][:n]
		for j, v := range p[i*ld:][:n] {
			e := expGo(v - shift[i])
			p[i*ld+j] = e
			if e == 0 {
				dp[j] = 0
			} else {
				dp[j] = e * (dp[j] - delta[i])
			}
		}
	}
}

// capRowsGo sets x ← c·tanh(x/c), and slope, if it is given, to the derivative of that.
//
//	y = c·tanh(x/c):  dy/dx = 1 − tanh²(x/c)
func capRowsGo[F Float](rows, n int, x []F, ld int, slope []F, c F) {
	for i := range rows {
		for j, v := range x[i*ld:][:n] {
			y := F(math.Tanh(float64(v / c)))
			x[i*ld+j] = c * y
			if slope != nil {
				slope[i*ld+j] = 1 - y*y
			}
		}
	}
}

// dropRowsGo multiplies by scale, or sets to 0 where mix(start + row·rowStep + column·columnStep) < below.
func dropRowsGo[F Float](rows, n int, x []F, ld int, start, columnStep, rowStep, below uint64, scale F) {
	for i := range rows {
		line, at := x[i*ld:][:n], start
		for j := range line {
			if mix(at) >= below {
				line[j] *= scale
			} else {
				line[j] = 0
			}
			at += columnStep
		}
		start += rowStep
	}
}

func expGo[F Float](x F) F {
	if sizeOf[F]() == 4 {
		return F(exp32(float32(x)))
	}
	return F(math.Exp(float64(x)))
}

// exp32 is e^x to within 1 unit in the last place; results below the smallest normal number are 0.
// x = n·ln 2 + r with |r| ≤ ½·ln 2, and e^r is a polynomial with the least greatest relative error, 3e-9.
func exp32(x float32) float32 {
	const (
		least, most = -87.33654, 88
		round       = 3 << 22     // adding it leaves no bits for a fraction
		high        = 0x1.62e4p-1 // ln 2 in 15 bits: n·high is exact
		low         = math.Ln2 - high
	)
	if !(x >= least && x <= most) {
		if x < least {
			return 0
		}
		return float32(math.Exp(float64(x)))
	}
	n := float32(x*math.Log2E+round) - round
	r := float32(x-n*high) - n*low
	e := float32(0.00138145995535)
	e = e*r + 0.00836871687519
	e = e*r + 0.041668388031
	e = e*r + 0.166665206318
	e = e*r + 0.499999934478
	e = e*r*r + r + 1
	return e * math.Float32frombits(uint32(int32(n)+127)<<23)
}

// log is the natural logarithm of x ≥ 0.
func log[F Float](x F) F {
	if sizeOf[F]() == 4 {
		return F(log32(float32(x)))
	}
	return F(math.Log(float64(x)))
}

// log32 rounds a logarithm that is right to 1e-9: of x = m·2ⁿ with √½ ≤ m < √2 it is n·ln 2 + log m, and
// log m = 2·artanh((m − 1)/(m + 1)), of which the series up to the 11th power is taken.
func log32(x float32) float32 {
	const normal, sqrtHalf = 0x1p-126, 0x3f3504f3
	bits := math.Float32bits(x)
	if !(x >= normal) || x > math.MaxFloat32 {
		return float32(math.Log(float64(x)))
	}
	n := int32(bits-sqrtHalf) >> 23
	m := float64(math.Float32frombits(bits - uint32(n)<<23))
	s := (m - 1) / (m + 1)
	q := s * s
	return float32(float64(n)*math.Ln2 + 2*s*(1+q*(1./3+q*(1./5+q*(1./7+q*(1./9+q*(1./11)))))))
}
