package kernel

import "attention/internal/simd"

// Turn turns pairs of elements by angles that all rows share: pair i of a row is element i of a and of b, and cos[i]
// and sin[i] give its angle. A row begins ld elements after the one before. y may be x.
//
//	ya = xa·cos − xb·sin,  yb = xb·cos + xa·sin
func Turn[F Float](rows, ld int, ya, yb, xa, xb, cos, sin []F) {
	fit("turn", len(cos), len(sin))
	if rows > 0 && len(cos) > 0 {
		simd.TurnRows(rows, len(cos), ld, ya, yb, xa, xb, cos, sin)
	}
}
