package simd

import "math"

// log returns the natural logarithm of x ≥ 0.
func log[F Float](x F) F {
	if SizeOf[F]() == 4 {
		return F(log32(float32(x)))
	}
	return F(math.Log(float64(x)))
}

// log32 rounds a logarithm that is right to 1e-9: of x = m·2ⁿ with √½ ≤ m < √2 it is n·ln 2 + log m, and
// log m = 2·artanh((m − 1)/(m + 1)), by the series up to the 11th power.
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

// Logarithms writes the natural logarithms of x ≥ 0 to y.
func Logarithms[F Float](y, x []F) {
	const normal = 0x1p-126
	for _, v := range x {
		if SizeOf[F]() != 4 || !(v >= normal && v <= math.MaxFloat32) {
			logSingleGo(y, x)
			return
		}
	}
	LogSingle(y, x)
}

// logSingleGo writes the logarithm of each element.
func logSingleGo[F Float](y, x []F) { ofOne(y, x, log[F]) }
