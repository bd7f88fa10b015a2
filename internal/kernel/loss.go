package kernel

// LossArguments are the arguments of the losses of all elements.
type LossArguments[F Float] struct {
	X, Y   []F       // of one length
	Weight []F       // or nil
	Reads  Broadcast // how X and Weight are read together
	C      float64   // a setting of the loss
}

// A LossFunction writes a number for every element of x and y to l: its loss, or a derivative of that. w is nil or as
// long as x.
type LossFunction[F Float] func(l []float64, x, y, w []F, c float64)

// lossBlock is the number of losses that are added in four sums; the sums of blocks are added pairwise. The blocks
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
