package kernel

import "math"

// Divergence is y·(log y − x), for a logarithm of a probability x and a probability y; 0 for y = 0.
func Divergence[F Float](l []float64, x, y, _ []F, _ float64) {
	for i, v := range y {
		l[i] = 0
		if v != 0 {
			l[i] = float64(v) * (math.Log(float64(v)) - float64(x[i]))
		}
	}
}

// DivergenceSlope is −y, the derivative by x.
func DivergenceSlope[F Float](l []float64, x, y, _ []F, _ float64) {
	for i := range x {
		l[i] = -float64(y[i])
	}
}

// DivergenceTargetSlope is log y − x + 1, the derivative by y; 0 for y = 0.
func DivergenceTargetSlope[F Float](l []float64, x, y, _ []F, _ float64) {
	for i, v := range y {
		l[i] = 0
		if v != 0 {
			l[i] = math.Log(float64(v)) - float64(x[i]) + 1
		}
	}
}

// LogDivergence is Divergence for the logarithm y of a probability: e^y·(y − x); 0 for y = −∞.
func LogDivergence[F Float](l []float64, x, y, _ []F, _ float64) {
	for i, v := range y {
		l[i] = 0
		if p := math.Exp(float64(v)); p != 0 {
			l[i] = p * (float64(v) - float64(x[i]))
		}
	}
}

// LogDivergenceSlope is −e^y, the derivative by x.
func LogDivergenceSlope[F Float](l []float64, _, y, _ []F, _ float64) {
	for i, v := range y {
		l[i] = -math.Exp(float64(v))
	}
}

// LogDivergenceTargetSlope is e^y·(y − x + 1), the derivative by y; 0 for y = −∞.
func LogDivergenceTargetSlope[F Float](l []float64, x, y, _ []F, _ float64) {
	for i, v := range y {
		l[i] = 0
		if p := math.Exp(float64(v)); p != 0 {
			l[i] = p * (float64(v) - float64(x[i]) + 1)
		}
	}
}
