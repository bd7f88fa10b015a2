package kernel

import "math"

// BinaryCrossEntropy is w·y·log(1 + e^−x) + (1−y)·log(1 + e^x), for a logit x, a target y and the weight w of what is
// right, 1 for none.
func BinaryCrossEntropy[F Float](l []float64, x, y, w []F, _ float64) {
	var room [chunk]F
	for i, e := range expOfMinusAbs(room[:len(x)], x) {
		v, softplus := float64(x[i]), log1p[F](float64(e))
		yes, no := sides(y[i], w, i)
		l[i] = yes*(softplus+max(-v, 0)) + no*(softplus+max(v, 0))
	}
}

// BinaryCrossEntropySlope is (1−y)·σ(x) − w·y·σ(−x), the derivative by x.
func BinaryCrossEntropySlope[F Float](l []float64, x, y, w []F, _ float64) {
	var room [chunk]F
	for i, e := range expOfMinusAbs(room[:len(x)], x) {
		larger := 1 / (1 + float64(e)) // σ(|x|)
		yes, no := sides(y[i], w, i)
		if smaller := float64(e) * larger; x[i] < 0 {
			l[i] = no*smaller - yes*larger
		} else {
			l[i] = no*larger - yes*smaller
		}
	}
}

// BinaryCrossEntropyTargetSlope is w·log(1 + e^−x) − log(1 + e^x), the derivative by y.
func BinaryCrossEntropyTargetSlope[F Float](l []float64, x, _, w []F, _ float64) {
	var room [chunk]F
	for i, e := range expOfMinusAbs(room[:len(x)], x) {
		v, softplus := float64(x[i]), log1p[F](float64(e))
		yes, _ := sides(1, w, i)
		l[i] = yes*(softplus+max(-v, 0)) - (softplus + max(v, 0))
	}
}

// expOfMinusAbs writes e^−|x| to y and returns it.
func expOfMinusAbs[F Float](y, x []F) []F {
	for i, v := range x {
		y[i] = -max(v, -v)
	}
	exp(chosenPath, y, y)
	return y
}

// sides returns w·y and 1−y.
func sides[F Float](y F, w []F, i int) (yes, no float64) {
	yes, no = float64(y), 1-float64(y)
	if w != nil {
		yes *= float64(w[i])
	}
	return yes, no
}

// log1p returns log(1 + e) for 0 ≤ e ≤ 1, to 4e-9 for float32: with s = e/(2 + e) it is 2·artanh s, and artanh(s)/s is
// a polynomial in s² with nearly the least greatest relative error.
func log1p[F Float](e float64) float64 {
	if sizeOf[F]() != 4 {
		return math.Log1p(e)
	}
	s := e / (2 + e)
	q := s * s
	return 2 * s * (1.0000000039388734 + q*(0.33333157967541299+q*(0.20012426861695928+
		q*(0.13980709417998538+q*0.14087328628608384))))
}
