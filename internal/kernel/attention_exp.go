package kernel

import "math"

// maxColumns writes the maximum of each column of x, whose rows are ld apart; of which there are at least one.
// A NaN may get lost: it reaches the results through its exponential.
func maxColumns[F Float](top, x []F, rows, ld int) {
	copy(top, x)
	for i := 1; i < rows; i++ {
		for j, v := range x[i*ld:][:len(top)] {
			if v > top[j] {
				top[j] = v
			}
		}
	}
}

// expColumns sets x ← exp(x − shift) with one shift for each column, and adds each column to sum.
func expColumns[F Float](x []F, rows, ld int, shift, sum []F) {
	for i := range rows {
		line := x[i*ld:][:len(shift)]
		for j, v := range line {
			e := expGo(v - shift[j])
			line[j] = e
			sum[j] += e
		}
	}
}

// gradientRow turns the scores p and the gradients of the weights dp of one query into the weights and the
// gradients of the scores:
//
//	p = exp(p − lse);  dp = p·(dp − delta)
func gradientRow[F Float](p, dp []F, lse, delta F) {
	dp = dp[:len(p)]
	for j, v := range p {
		e := expGo(v - lse)
		p[j] = e
		// Whatever a hidden key holds, its gradient is 0.
		if e == 0 {
			dp[j] = 0
		} else {
			dp[j] = e * (dp[j] - delta)
		}
	}
}

func expGo[F Float](x F) F {
	if sizeOf[F]() == 4 {
		return F(exp32(float32(x)))
	}
	return F(math.Exp(float64(x)))
}

// packColumnsScaled writes rows [0,rows) of x as columns of y (width,ld), times f.
func packColumnsScaled[F Float](y []F, ld int, x []F, row, rows, width int, f F) {
	transposePanel(chosenPath, width, rows, x, row, y, ld)
	if f == 1 {
		return
	}
	for d := range width {
		line := y[d*ld:][:rows]
		for t := range line {
			line[t] *= f
		}
	}
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
