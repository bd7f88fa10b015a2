package simd

// TwoSum returns x + y, rounded, and its rounding error (Knuth's TwoSum).
func TwoSum[F Float](x, y F) (sum, low F) {
	sum = x + y
	added := sum - x
	return sum, (x - (sum - added)) + (y - added)
}

func sumGo[F Float](x []F) float64 {
	var s [4]float64 // that do not wait for each other
	for ; len(x) >= 4; x = x[4:] {
		s[0] += float64(x[0])
		s[1] += float64(x[1])
		s[2] += float64(x[2])
		s[3] += float64(x[3])
	}
	for i, v := range x {
		s[i] += float64(v)
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

func sumColumnsGo[F Float](rows, n, ld int, y []float64, x []F) {
	y = y[:n]
	for i := range rows {
		for j, v := range x[i*ld:][:n] {
			y[j] += float64(v)
		}
	}
}

func sumSquaresGo[F Float](x []F) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

// SumShort is Sum for few elements, which are not worth a call of assembly. Its bits are those of plain Go.
func SumShort[F Float](x []F) float64 { return sumGo(x) }
