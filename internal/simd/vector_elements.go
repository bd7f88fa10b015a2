package simd

import "math"

// ofOne writes f(x) of each element to y, and ofTwo f(x, y) to z. The compiler inlines f: an element costs no call.
func ofOne[F Float](y, x []F, f func(x F) F) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = f(v)
	}
}

func ofTwo[F Float](z, x, y []F, f func(x, y F) F) {
	z, y = z[:len(x)], y[:len(x)]
	for i, v := range x {
		z[i] = f(v, y[i])
	}
}

// Abs sets y ← |x|.
func Abs[F Float](y, x []F) { ofOne(y, x, func(x F) F { return F(math.Abs(float64(x))) }) }

// dx = dy⊙sign(x), and x·dy for 0 and NaN.
func AbsSlope[F Float](dx, x, dy []F) {
	ofTwo(dx, x, dy, func(x, dy F) F {
		if x == 0 || x != x {
			return x * dy
		}
		return F(math.Copysign(1, float64(x))) * dy
	})
}

// Ceil, Floor and Sqrt set y to the function of the same name in package math, InverseSqrt to 1/√x and Cube to x³.
func Ceil[F Float](y, x []F) { ofOne(y, x, func(x F) F { return F(math.Ceil(float64(x))) }) }

func Floor[F Float](y, x []F) { ofOne(y, x, func(x F) F { return F(math.Floor(float64(x))) }) }

func Sqrt[F Float](y, x []F) { ofOne(y, x, func(x F) F { return F(math.Sqrt(float64(x))) }) }

func inverseGo[F Float](y, x []F) { ofOne(y, x, func(x F) F { return 1 / x }) }

func InverseSqrt[F Float](y, x []F) {
	ofOne(y, x, func(x F) F { return F(1 / math.Sqrt(float64(x))) })
}

func Cube[F Float](y, x []F) { ofOne(y, x, func(x F) F { return x * x * x }) }

// Sign sets y ← 1 or −1 by the sign of x. 0, −0 and NaN stay.
func Sign[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		sign := OneWhere[F](v > 0) - OneWhere[F](v < 0)
		if sign == 0 {
			sign = v
		}
		y[i] = sign
	}
}

// Ln scales numbers that are not normal: math.Log is wrong for them on amd64.
func Ln[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		if x := float64(v); x > 0 && x < 0x1p-1022 {
			y[i] = F(math.Log(x*0x1p52) - 52*math.Ln2)
		} else {
			y[i] = F(math.Log(x))
		}
	}
}

func mulGo[F Float](z, x, y []F) { ofTwo(z, x, y, func(x, y F) F { return x * y }) }

func subGo[F Float](z, x, y []F) { ofTwo(z, x, y, func(x, y F) F { return x - y }) }

func divGo[F Float](z, x, y []F) { ofTwo(z, x, y, func(x, y F) F { return x / y }) }

func scaleGo[F Float](y, x []F, c F) { ofOne(y, x, func(x F) F { return c * x }) }
