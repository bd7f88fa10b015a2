package simd

func Lesser[F Float](z, x, y []F) {
	z, y = z[:len(x)], y[:len(x)]
	for i, v := range x {
		if !(v < y[i]) && v == v {
			v = y[i]
		}
		z[i] = v
	}
}

func greaterGo[F Float](z, x, y []F) {
	z, y = z[:len(x)], y[:len(x)]
	for i, v := range x {
		if !(v > y[i]) && v == v {
			v = y[i]
		}
		z[i] = v
	}
}

func Less[F Float](z, x, y []F) {
	z, y = z[:len(x)], y[:len(x)]
	for i, v := range x {
		z[i] = OneWhere[F](v < y[i])
	}
}

func LessOrEqual[F Float](z, x, y []F) {
	z, y = z[:len(x)], y[:len(x)]
	for i, v := range x {
		z[i] = OneWhere[F](v <= y[i])
	}
}

func Equal[F Float](z, x, y []F) {
	z, y = z[:len(x)], y[:len(x)]
	for i, v := range x {
		z[i] = OneWhere[F](v == y[i])
	}
}

func Differs[F Float](z, x, y []F) {
	z, y = z[:len(x)], y[:len(x)]
	for i, v := range x {
		z[i] = OneWhere[F](v != y[i])
	}
}

func OneWhere[F Float](holds bool) F {
	one := int32(0)
	if holds { // without a branch that the processor could mispredict
		one = 1
	}
	return F(one)
}
