package kernel

import "math"

// Exp writes eˣ to y, of one length; y may be x. A result is within 1 unit in the last place, and within 2
// where it is below the smallest normal number, and in plain Go for float64; −∞ gives 0, +∞ gives +∞, and NaN stays NaN.
func Exp[F Float](y, x []F) {
	fit("exp", len(x), len(y))
	vectorTask[F]{kind: taskExp, a: y, b: x}.start(len(x), grainSlow)
}

func expPlain[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		if v < -87 || v > 88 { // near the ends of float32, and everything else that is large
			y[i] = F(exp64(float64(v)))
		} else {
			y[i] = expGo(v)
		}
	}
}

// exp64 is math.Exp, which on amd64 has ∞ from 709.44 on, where the largest number is still far.
func exp64(x float64) float64 {
	if x > 709 && x < 710 {
		const eLow = 1.4456468917292502e-16 // e − math.E as a float64
		y := math.Exp(x - 1)
		return math.FMA(y, math.E, y*eLow)
	}
	return math.Exp(x)
}

// LogSumExp is log Σexp(x), shifted by the maximum so that it cannot overflow. It is −∞ without elements.
func LogSumExp[F Float](x []F) float64 {
	if len(x) == 0 {
		return math.Inf(-1)
	}
	var top, sum [1]F
	sumExpRows(chosenPath, 1, len(x), x, top[:], sum[:])
	return logSumExp(x, top[0], sum[0])
}

// logSumExp is that of a row with maximum top and Σ exp(x−top) = sum.
func logSumExp[F Float](x []F, top, sum F) float64 {
	if !math.IsInf(float64(top), 1) {
		return float64(top) + math.Log(float64(sum))
	}
	for _, v := range x {
		if v != v {
			return math.NaN()
		}
	}
	return math.Inf(1) // where ∞ − ∞ has made sum NaN
}

func sumExpRowsPlain[F Float](rows, cols int, x, top, sum []F) {
	for r := range rows {
		row := x[r*cols:][:cols]
		top[r] = rowTop(row)
		shift, total := rowShift(top[r]), 0.0
		for _, v := range row {
			total += float64(expGo(v - shift))
		}
		sum[r] = F(total)
	}
}

// rowTop is the maximum of a row; a NaN gets lost.
func rowTop[F Float](x []F) F {
	top := lowest[F]()
	for _, v := range x {
		if v > top {
			top = v
		}
	}
	return top
}

// rowShift makes of a maximum what is to be subtracted: 0 instead of −∞, for −∞ − −∞ would be NaN.
func rowShift[F Float](top F) F {
	if top == lowest[F]() {
		return 0
	}
	return top
}
