package dense

import (
	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// IsFinite reports whether a row-major tensor of floats or of a stored type holds no NaN and no infinity.
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
	if f := formats[t.Dtype()]; f != nil {
		row := make([]float32, 64*f.Numbers)
		for all, at := blocksOf(t), 0; at < t.Shape().TotalSize(); at += len(row) {
			row = row[:min(len(row), t.Shape().TotalSize()-at)]
			if all.Take(row, at); !finite(row) {
				return false
			}
		}
		return true
	}
	return ByType(t.Dtype(), allFinite[float32], allFinite[float64])(t)
}

func allFinite[F kernel.Float](d *tensor.Dense) bool { return finite(Floats[F](d)) }

func finite[F kernel.Float](x []F) bool {
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
