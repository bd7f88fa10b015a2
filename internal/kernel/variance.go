package kernel

import "math"

// VarianceOver writes Σ (x − mean)²/(N − correction) over the reduced axes to y, or its root, summed in float64. The
// mean is the mean of the N elements.
func VarianceOver[F Float](y, x []F, r Reduction, correction float64, root bool) {
	r.fit("variance", len(x), len(y))
	x, room := gather(&r, x)
	defer giveBack(room)
	means, squares := borrow[float64](len(y)), borrow[float64](len(y))
	defer giveBack(means)
	defer giveBack(squares)
	sumOver(*means, x, nil, r, float64(r.N))
	sumOver(*squares, x, *means, r, float64(r.N)-correction)
	for i, v := range *squares {
		if root {
			v = math.Sqrt(v)
		}
		y[i] = F(v)
	}
}

// VarianceBackward writes the gradient of VarianceOver for the gradient dy of y:
//
//	dx = dy·2(x − mean)/(N − correction), of the root dy·(x − mean)/((N − correction)·y)
//
// A root of 0 passes none. dx may be x.
func VarianceBackward[F Float](dx, x, y, dy []F, r Reduction, correction float64, root bool) {
	r.fit("variance backward", len(x), len(y))
	r.fit("variance backward", len(dx), len(dy))
	x, room := gather(&r, x)
	defer giveBack(room)
	means, factors := borrow[float64](len(y)), borrow[float64](len(y))
	defer giveBack(means)
	defer giveBack(factors)
	sumOver(*means, x, nil, r, float64(r.N))
	for i, d := range dy {
		factor := 2 * float64(d) / (float64(r.N) - correction)
		if root {
			factor /= 2 * float64(y[i])
			if y[i] == 0 {
				factor = 0
			}
		}
		(*factors)[i] = factor
	}
	scatter(&r, dx, func(dx []F) {
		split(varianceBackwardCall[F]{dx, x, *means, *factors, r}, r.Outer*r.N, rowGrain(grainFast, r.Inner))
	})
}

type varianceBackwardCall[F Float] struct {
	dx, x          []F
	means, factors []float64
	r              Reduction
}

func (c varianceBackwardCall[F]) do(lo, hi int) {
	if c.r.Inner == 1 {
		c.r.runs(lo, hi, func(outer, lo, hi int) {
			x, mean, factor := c.x[lo:hi], c.means[outer], c.factors[outer]
			dx := c.dx[lo:hi][:len(x)]
			for i, v := range x {
				dx[i] = F(factor * (float64(v) - mean))
			}
		})
		return
	}
	for i := lo; i < hi; i++ {
		at := i / c.r.N * c.r.Inner
		means, factors := c.means[at:][:c.r.Inner], c.factors[at:][:c.r.Inner]
		dx := c.dx[i*c.r.Inner:][:c.r.Inner]
		for j, v := range c.x[i*c.r.Inner:][:c.r.Inner] {
			dx[j] = F(factors[j] * (float64(v) - means[j]))
		}
	}
}
