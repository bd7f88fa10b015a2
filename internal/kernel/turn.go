package kernel

// Turn turns pairs of elements by angles that all rows share: pair i of a row is element i of a and of b, and cos[i]
// and sin[i] give its angle. A row begins ld elements after the one before. y may be x.
//
//	ya = xa·cos − xb·sin,  yb = xb·cos + xa·sin
func Turn[F Float](rows, ld int, ya, yb, xa, xb, cos, sin []F) {
	fit("turn", len(cos), len(sin))
	if rows > 0 && len(cos) > 0 {
		turnRows(chosenPath, rows, len(cos), ld, ya, yb, xa, xb, cos, sin)
	}
}

func turnRowsGo[F Float](rows, n, ld int, ya, yb, xa, xb, cos, sin []F) {
	for lo := 0; lo < rows*ld; lo += ld {
		ya, yb, xa, xb := ya[lo:][:n], yb[lo:][:n], xa[lo:][:n], xb[lo:][:n]
		for i, c := range cos[:n] {
			s, a, b := sin[i], xa[i], xb[i]
			ya[i], yb[i] = F(a*c)-F(b*s), F(b*c)+F(a*s)
		}
	}
}
