package kernel

import "math"

// LossArguments are what the loss of every element is computed from.
type LossArguments[F Float] struct {
	X, Y   []F       // of one length
	Weight []F       // or nil
	Reads  Broadcast // how X and Weight are read together
	C      float64   // a setting of the loss
}

// A LossFunction writes a number for every element of x and y to l: its loss, or a derivative of that. w is nil or as
// long as x.
type LossFunction[F Float] func(l []float64, x, y, w []F, c float64)

// lossBlock is the number of losses that are added in four sums; those of the blocks are added pairwise. The blocks
// depend on the number of elements alone.
const lossBlock = 1 << 12

// SumLoss returns the sum of the losses, in float64.
func SumLoss[F Float](f LossFunction[F], a LossArguments[F]) float64 {
	fit("loss", len(a.X), len(a.Y))
	sums := borrow[float64]((len(a.X) + lossBlock - 1) / lossBlock)
	defer giveBack(sums)
	split(sumLossCall[F]{*sums, f, a}, len(*sums), 4)
	return pairwise(*sums, 1)
}

type sumLossCall[F Float] struct {
	sums []float64
	f    LossFunction[F]
	a    LossArguments[F]
}

func (c sumLossCall[F]) do(lo, hi int) {
	for i := lo; i < hi; i++ {
		var s [4]float64 // that do not wait for each other
		c.a.each(i*lossBlock, min((i+1)*lossBlock, len(c.a.X)), c.f, func(_ int, l []float64) {
			for ; len(l) >= 4; l = l[4:] {
				s[0] += l[0]
				s[1] += l[1]
				s[2] += l[2]
				s[3] += l[3]
			}
			for j, v := range l {
				s[j] += v
			}
		})
		c.sums[i] = (s[0] + s[1]) + (s[2] + s[3])
	}
}

// each calls use for what f makes of the elements [lo,hi), a part after the other.
func (a *LossArguments[F]) each(lo, hi int, f LossFunction[F], use func(at int, l []float64)) {
	room, weights := borrow[float64](chunk), borrow[F](chunk) // which f, a variable, lets escape
	defer giveBack(room)
	defer giveBack(weights)
	chunks(lo, hi, func(lo, hi int) {
		l := (*room)[:hi-lo]
		var w []F
		if a.Weight != nil {
			w = (*weights)[:hi-lo]
			a.Reads.runs(lo, hi, func(r run) {
				to, from := w[r.lo-lo:r.hi-lo], part(&a.Reads, r, 1, a.Weight)
				for i := range to {
					to[i] = from[min(i, len(from)-1)]
				}
			})
		}
		f(l, a.X[lo:hi], a.Y[lo:hi], w, a.C)
		use(lo, l)
	})
}

// EachLoss writes what f makes of every element, times factor/divisor, to y, with one factor for each, one for
// all, or none for 1. y may be one of the arguments.
func EachLoss[F Float](y []F, f LossFunction[F], a LossArguments[F], factors []F, divisor float64) {
	fit("loss", len(a.X), len(a.Y), len(y))
	if len(factors) > 1 {
		fit("loss", len(a.X), len(factors))
	}
	split(eachLossCall[F]{y, f, a, factors, divisor}, len(a.X), grainFast)
}

type eachLossCall[F Float] struct {
	y       []F
	f       LossFunction[F]
	a       LossArguments[F]
	factors []F
	divisor float64
}

func (c eachLossCall[F]) do(lo, hi int) {
	c.a.each(lo, hi, c.f, func(at int, l []float64) {
		y := c.y[at:][:len(l)]
		if len(c.factors) < 2 {
			scale := 1 / c.divisor
			if len(c.factors) == 1 {
				scale = float64(c.factors[0]) / c.divisor
			}
			for i, v := range l {
				y[i] = F(scale * v)
			}
			return
		}
		factors := c.factors[at:][:len(l)]
		for i, v := range l {
			y[i] = F(float64(factors[i]) / c.divisor * v)
		}
	})
}

// SquaredError is (x − y)².
func SquaredError[F Float](l []float64, x, y, _ []F, _ float64) {
	y = y[:len(x)]
	for i, v := range x {
		d := float64(v) - float64(y[i])
		l[i] = d * d
	}
}

// SquaredErrorSlope is 2(x − y).
func SquaredErrorSlope[F Float](l []float64, x, y, _ []F, _ float64) {
	y = y[:len(x)]
	for i, v := range x {
		l[i] = 2 * (float64(v) - float64(y[i]))
	}
}

// AbsoluteError is |x − y|.
func AbsoluteError[F Float](l []float64, x, y, _ []F, _ float64) {
	for i, v := range x {
		l[i] = math.Abs(float64(v) - float64(y[i]))
	}
}

// AbsoluteErrorSlope is the sign of x − y, and 0 where they are equal.
func AbsoluteErrorSlope[F Float](l []float64, x, y, _ []F, _ float64) {
	for i, v := range x {
		d := float64(v) - float64(y[i])
		if l[i] = math.Copysign(1, d); d == 0 || d != d {
			l[i] = d
		}
	}
}

// HuberError is ½d² for |d| ≤ c, d = x − y, and c·(|d| − ½c) beyond.
func HuberError[F Float](l []float64, x, y, _ []F, c float64) {
	for i, v := range x {
		d := math.Abs(float64(v) - float64(y[i]))
		square := min(d, c)
		l[i] = square * (d - square/2)
	}
}

// HuberErrorSlope is d, but no more than ±c.
func HuberErrorSlope[F Float](l []float64, x, y, _ []F, c float64) {
	for i, v := range x {
		l[i] = max(-c, min(float64(v)-float64(y[i]), c))
	}
}

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
