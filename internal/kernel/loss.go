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
	var room [chunk]float64
	var weights [chunk]F
	chunks(lo, hi, func(lo, hi int) {
		l := room[:hi-lo]
		var w []F
		if a.Weight != nil {
			w = weights[:hi-lo]
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
		switch d := float64(v) - float64(y[i]); {
		case d > 0:
			l[i] = 1
		case d < 0:
			l[i] = -1
		default:
			l[i] = d
		}
	}
}

// HuberError is ½d² for |d| ≤ c, d = x − y, and c·(|d| − ½c) beyond.
func HuberError[F Float](l []float64, x, y, _ []F, c float64) {
	for i, v := range x {
		d := math.Abs(float64(v) - float64(y[i]))
		if d <= c {
			l[i] = d * d / 2
		} else {
			l[i] = c * (d - c/2)
		}
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
	eachLogit(l, x, y, w, func(no, yes, softplus, _ float64, x float64) float64 {
		return yes*(softplus+max(-x, 0)) + no*(softplus+max(x, 0))
	})
}

// BinaryCrossEntropySlope is (1−y)·σ(x) − w·y·σ(−x), the derivative by x.
func BinaryCrossEntropySlope[F Float](l []float64, x, y, w []F, _ float64) {
	eachLogit(l, x, y, w, func(no, yes, _, e float64, x float64) float64 {
		larger, smaller := 1/(1+e), e/(1+e) // σ(|x|) and σ(−|x|)
		if x < 0 {
			larger, smaller = smaller, larger
		}
		return no*larger - yes*smaller
	})
}

// BinaryCrossEntropyTargetSlope is w·log(1 + e^−x) − log(1 + e^x), the derivative by y.
func BinaryCrossEntropyTargetSlope[F Float](l []float64, x, _, w []F, _ float64) {
	var room [chunk]F
	ones := room[:len(x)]
	for i := range ones {
		ones[i] = 1
	}
	eachLogit(l, x, ones, w, func(_, weight, softplus, _ float64, x float64) float64 {
		return weight*(softplus+max(-x, 0)) - (softplus + max(x, 0))
	})
}

// eachLogit calls f with 1−y, w·y, log(1 + e^−|x|), e^−|x| and x.
func eachLogit[F Float](l []float64, x, y, w []F, f func(no, yes, softplus, e, x float64) float64) {
	var room [chunk]F
	exps := room[:len(x)]
	for i, v := range x {
		exps[i] = -max(v, -v)
	}
	exp(chosenPath, exps, exps)
	for i, v := range x {
		yes, e := float64(y[i]), float64(exps[i])
		no := 1 - yes
		if w != nil {
			yes *= float64(w[i])
		}
		l[i] = f(no, yes, log1p[F](e), e, float64(v))
	}
}

// log1p returns log(1 + e) for 0 ≤ e ≤ 1, to 1e-10 for float32: with s = e/(2 + e) it is 2·artanh s, of which the
// series up to the 17th power is taken.
func log1p[F Float](e float64) float64 {
	if sizeOf[F]() != 4 {
		return math.Log1p(e)
	}
	s := e / (2 + e)
	q := s * s
	return 2 * s * (1 + q*(1./3+q*(1./5+q*(1./7+q*(1./9+q*(1./11+q*(1./13+q*(1./15+q*(1./17)))))))))
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
