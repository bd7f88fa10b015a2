package simd

func topRowsGo[F Float](rows, cols int, y, x []F) {
	for i := range rows {
		y[i] = MaxOf(x[i*cols:][:cols])
	}
}

// MaxOf returns the largest x, or −∞ for none. It uses four independent maxima.
func MaxOf[F Float](x []F) F {
	a := NegInf[F]()
	b, c, d := a, a, a
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = Larger(a, x[0]), Larger(b, x[1]), Larger(c, x[2]), Larger(d, x[3])
	}
	for _, v := range x {
		a = Larger(a, v)
	}
	return Larger(Larger(a, b), Larger(c, d))
}

// Larger returns the maximum of two numbers, or NaN if one of them is NaN. It ignores the sign of zero, which makes it
// faster than max.
func Larger[F Float](top, v F) F {
	if v > top || v != v {
		return v
	}
	return top
}

// A NaN that the maximum has lost is still in the sum.
func softmaxRowsGo[F Float](rows, cols int, y, x []F, scale, empty F) {
	for r := range rows {
		xr, yr := x[r*cols:][:cols], y[r*cols:][:cols]
		shift := RowShift(rowTop(xr))
		var sum F
		for i, v := range xr {
			e := expOf(v - shift)
			yr[i] = e
			sum += e
		}
		factor := empty
		if sum != 0 {
			factor = scale / sum
		}
		for i := range yr {
			yr[i] *= factor
		}
	}
}

func softmaxBackwardRowsGo[F Float](rows, cols int, dx, y, dy []F) {
	for r := range rows {
		dxr, yr, dyr := dx[r*cols:][:cols], y[r*cols:][:cols], dy[r*cols:][:cols]
		var dot F
		for i, v := range yr {
			dot += v * dyr[i]
		}
		for i, v := range yr {
			dxr[i] = v * (dyr[i] - dot)
		}
	}
}

func sumExpRowsGo[F Float](rows, cols int, x, top, sum []F) {
	for r := range rows {
		row := x[r*cols:][:cols]
		top[r] = rowTop(row)
		shift, total := RowShift(top[r]), 0.0
		for _, v := range row {
			total += float64(expOf(v - shift))
		}
		sum[r] = F(total)
	}
}

// rowTop returns the maximum of a row; a NaN gets lost.
func rowTop[F Float](x []F) F {
	top := NegInf[F]()
	for _, v := range x {
		if v > top {
			top = v
		}
	}
	return top
}

// RowShift returns what to subtract for a maximum: 0 instead of −∞, for −∞ − −∞ would be NaN.
func RowShift[F Float](top F) F {
	if top == NegInf[F]() {
		return 0
	}
	return top
}
