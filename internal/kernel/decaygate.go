package kernel

import "math"

// softplus returns log(1 + eˣ) and its slope, sigmoid(x).
func softplus(x float64) (y, slope float64) {
	e := math.Exp(-math.Abs(x))
	y, slope = max(x, 0)+math.Log1p(e), 1/(1+e)
	if x < 0 {
		slope = e / (1 + e)
	}
	return y, slope
}

// DecayGate writes y = −exp(rate)⊙softplus(x + bias), for rows x as long as rate and bias.
func DecayGate[F Float](y, x, rate, bias []F) {
	fit("decay gate", len(x), len(y))
	fit("decay gate", len(rate), len(bias))
	split(decayGateCall[F]{y: y, x: x, rate: rate, bias: bias}, fitRows("decay gate", len(x), len(rate)),
		rowGrain(grainSlow, len(rate)))
}

type decayGateCall[F Float] struct{ y, dy, x, rate, bias []F }

func (c decayGateCall[F]) do(lo, hi int) {
	cols := len(c.rate)
	for i := lo * cols; i < hi*cols; i++ {
		y, slope := softplus(float64(c.x[i]) + float64(c.bias[i%cols]))
		if c.dy != nil { // y is dx
			y = slope * float64(c.dy[i])
		}
		c.y[i] = F(-math.Exp(float64(c.rate[i%cols])) * y)
	}
}

// DecayGateBackward writes dx = −dy⊙exp(rate)⊙sigmoid(x + bias), drate = Σ dy⊙y and dbias = Σ dx.
func DecayGateBackward[F Float](dx, drate, dbias, dy, x, rate, bias []F) {
	fit("decay gate", len(x), len(dx), len(dy))
	fit("decay gate", len(rate), len(bias), len(drate), len(dbias))
	cols := len(rate)
	split(decayGateCall[F]{dx, dy, x, rate, bias}, fitRows("decay gate", len(x), cols), rowGrain(grainSlow, cols))
	split(decayGateSums[F]{drate, dbias, decayGateCall[F]{dx, dy, x, rate, bias}}, cols, columnGrain(len(x)/cols))
}

// decayGateSums computes drate and dbias of some columns.
type decayGateSums[F Float] struct {
	drate, dbias []F
	decayGateCall[F]
}

func (c decayGateSums[F]) do(lo, hi int) {
	cols := len(c.rate)
	for j := lo; j < hi; j++ {
		var drate, dbias float64
		for i := j; i < len(c.x); i += cols {
			y, _ := softplus(float64(c.x[i]) + float64(c.bias[j]))
			drate -= float64(c.dy[i]) * y
			dbias += float64(c.y[i])
		}
		c.drate[j], c.dbias[j] = F(drate*math.Exp(float64(c.rate[j]))), F(dbias)
	}
}
