package kernel

import (
	"slices"

	"attention/internal/simd"
)

func isFinite[F Float](x F) bool { return x-x == 0 }

// notFinite returns which of the first n rows of m hold a NaN or ∞: these times 0 are NaN.
func (w *attentionTiles[F]) notFinite(m *rowsOf[F], n int) (bad []int) {
	if w.finite(m, n, 0) { // checks all rows in one pass: usually all are finite
		return nil
	}
	simd.Dot(m.data, m.row, w.zeros[:m.width], w.sums[:n])
	for i, sum := range w.sums[:n] {
		if sum != 0 {
			bad = append(bad, i)
		}
	}
	return bad
}

// finite reports whether the sum of each column of the first n rows of m, times a factor, is finite.
func (w *attentionTiles[F]) finite(m *rowsOf[F], n int, factor F) bool {
	if need := max(m.width, n); len(w.zeros) < need {
		w.zeros, w.ones, w.columnSums = make([]F, need), make([]F, need), make([]F, need)
		for i := range w.ones {
			w.ones[i] = 1
		}
	}
	columns := w.columnSums[:m.width]
	clear(columns)
	simd.Weigh(factor, m.data, m.row, w.ones[:n], columns)
	return !slices.ContainsFunc(columns, func(sum F) bool { return !isFinite(sum) })
}
