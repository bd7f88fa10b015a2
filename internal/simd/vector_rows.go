package simd

func turnRowsGo[F Float](rows, n, ld int, ya, yb, xa, xb, cos, sin []F) {
	for lo := 0; lo < rows*ld; lo += ld {
		ya, yb, xa, xb := ya[lo:][:n], yb[lo:][:n], xa[lo:][:n], xb[lo:][:n]
		for i, c := range cos[:n] {
			s, a, b := sin[i], xa[i], xb[i]
			ya[i], yb[i] = F(a*c)-F(b*s), F(b*c)+F(a*s)
		}
	}
}

func addRowsGo[F Float](rows, cols int, z, x, y []F) {
	for i := range rows {
		zi, xi := z[i*cols:][:cols], x[i*cols:][:cols]
		for j, v := range y[:cols] {
			zi[j] = xi[j] + v
		}
	}
}

func sumRowsGo[F Float](rows, n, ld int, y, x []F) {
	y = y[:n]
	for i := range rows {
		for j, v := range x[i*ld:][:n] {
			y[j] += v
		}
	}
}
