package simd

import "math"

// AdamConstants are the constants of one step of Adam or AdamW, for a whole parameter. Assembly reads the fields
// in this order.
type AdamConstants[F Float] struct {
	Keep         F // AdamW: 1 − lr·λ; Adam: 1
	Decay        F // Adam: λ; AdamW: 0
	Beta1, Rest1 F // β₁ and 1 − β₁
	Beta2, Rest2 F // β₂ and 1 − β₂
	Rate         F // lr / (1 − β₁ᵗ)
	Root         F // √(1 − β₂ᵗ)
	Eps          F
}

func adamGo[F Float](value, grad, m, v []F, k *AdamConstants[F]) {
	grad, m, v = grad[:len(value)], m[:len(value)], v[:len(value)]
	c := *k
	for i := range value {
		p := F(c.Keep * value[i])
		d := grad[i] + F(c.Decay*p)
		mi := F(c.Beta1*m[i]) + F(c.Rest1*d)
		vi := F(c.Beta2*v[i]) + F(F(c.Rest2*d)*d)
		m[i], v[i] = mi, vi
		value[i] = p - F(c.Rate*mi)/(F(math.Sqrt(float64(vi)))/c.Root+c.Eps)
	}
}

func sgdGo[F Float](value, grad []F, rate, decay F) {
	grad = grad[:len(value)]
	for i, v := range value {
		d := grad[i] + F(decay*v)
		value[i] = v - F(rate*d)
	}
}

func momentumGo[F Float](value, grad, buffer []F, rate, momentum, decay F) {
	grad, buffer = grad[:len(value)], buffer[:len(value)]
	for i, v := range value {
		d := grad[i] + F(decay*v)
		b := F(momentum*buffer[i]) + d
		buffer[i] = b
		value[i] = v - F(rate*b)
	}
}
