package simd

// Lesser sets z ← min(x, y): NaN where one is, y where they are equal.
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

// Less sets z ← 1 where x < y, else 0.
func Less[F Float](z, x, y []F) {
	z, y = z[:len(x)], y[:len(x)]
	for i, v := range x {
		z[i] = OneWhere[F](v < y[i])
	}
}

// LessOrEqual sets z ← 1 where x ≤ y, else 0.
func LessOrEqual[F Float](z, x, y []F) {
	z, y = z[:len(x)], y[:len(x)]
	for i, v := range x {
		z[i] = OneWhere[F](v <= y[i])
	}
}

// Equal sets z ← 1 where x = y, else 0.
func Equal[F Float](z, x, y []F) {
	z, y = z[:len(x)], y[:len(x)]
	for i, v := range x {
		z[i] = OneWhere[F](v == y[i])
	}
}

// Differs sets z ← 1 where x ≠ y, else 0.
func Differs[F Float](z, x, y []F) {
	z, y = z[:len(x)], y[:len(x)]
	for i, v := range x {
		z[i] = OneWhere[F](v != y[i])
	}
}

// OneWhere returns 1 if holds, else 0.
func OneWhere[F Float](holds bool) F {
	one := int32(0)
	if holds { // without a branch that the processor could mispredict
		one = 1
	}
	return F(one)
}
