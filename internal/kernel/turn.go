package kernel

import "attention/internal/simd"

// Turn rotates pairs of elements by angles that all rows share: pair i of a row consists of element i of a and of b,
// and cos[i] and sin[i] give its angle. Rows have the stride ld. y may be x.
//
//	ya = xa·cos − xb·sin,  yb = xb·cos + xa·sin
func Turn[F Float](rows, ld int, ya, yb, xa, xb, cos, sin []F) {
	fit("turn", len(cos), len(sin))
	if rows > 0 && len(cos) > 0 {
		simd.TurnRows(rows, len(cos), ld, ya, yb, xa, xb, cos, sin)
	}
}
