package dense

import (
	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// IsFinite reports whether a row-major tensor of floats or of BF16 holds no NaN and no infinity.
func IsFinite(t *tensor.Dense) bool {
	if t.Dtype() == BF16 {
		const exponent = 0xff << 7
		for _, v := range BF16s(t) {
			if v&exponent == exponent {
				return false
			}
		}
		return true
	}
	return ByType(t.Dtype(), allFinite[float32], allFinite[float64])(t)
}

func allFinite[F kernel.Float](d *tensor.Dense) bool {
	x := Floats[F](d)
	if sum := kernel.SumSquares(x); sum-sum == 0 {
		return true
	}
	for _, v := range x { // the squares of large numbers may overflow
		if v-v != 0 {
			return false
		}
	}
	return true
}
