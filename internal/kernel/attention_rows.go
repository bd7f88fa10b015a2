package kernel

import (
	"math"

	"attention/internal/simd"
)

// sink returns the initial maximum and sum of the rows of a head. A sink is like a key with this score and the value 0.
// bad reports a sink of NaN or +∞: it is applied at the end, since a row without keys must stay 0.
func (r *attentionRun[F]) sink(h int) (score, one F, bad bool) {
	if r.Sigmoid {
		return 0, 0, false // no maximum is subtracted for sigmoids
	}
	if r.In.Sinks == nil || r.In.Sinks[h] == simd.NegInf[F]() {
		return simd.NegInf[F](), 0, false
	}
	if !isFinite(r.In.Sinks[h]) {
		return simd.NegInf[F](), 0, true
	}
	return r.In.Sinks[h], 1, false
}

// beginRows initializes rows of a head before the first key. It reports whether a sink makes their results NaN.
func (r *attentionRun[F]) beginRows(h int, most, sum, peak []F) (bad bool) {
	score, one, bad := r.sink(h)
	for t := range most {
		most[t], sum[t], peak[t] = score, one, simd.NegInf[F]()
	}
	return bad
}

// numbersOf returns the RowNumbers of some rows.
func (r *attentionRun[F]) numbersOf(first, rows int) (lse, shift, factor []F) {
	n := r.B * r.H * r.T
	return r.LSE[first:][:rows], r.LSE[n+first:][:rows], r.LSE[2*n+first:][:rows]
}

// spoil sets the sums of rows that see a key to NaN.
func spoil[F Float](sums []F) {
	for t, sum := range sums {
		if sum != 0 {
			sums[t] = F(math.NaN())
		}
	}
}

// finish divides the sums of a block by the sums of the weights, and writes them, with stride step between rows, and
// lse.
func (r *attentionRun[F]) finish(w *forwardTiles[F], b, h, t0, rows, step int) {
	sums, logs, factors, most, peak := w.sum[:rows], w.logs[:rows], w.first[:rows], w.max[:rows], w.peak[:rows]
	simd.Logarithms(logs, sums)
	first := (b*r.H+h)*r.T + t0
	lse, shift, factor := r.numbersOf(first, rows)
	for t, sum := range sums {
		if sum == 0 { // false for a NaN, which the maximum may have ignored
			lse[t], shift[t], factor[t], factors[t] = simd.NegInf[F](), -simd.NegInf[F](), 0, 0
			continue
		}
		lse[t], shift[t], factors[t] = most[t]+logs[t], most[t], 1/sum
		if factor[t] = factors[t]; most[t]-peak[t]+logs[t] <= saturated {
			factor[t] = -factor[t]
		}
		if r.Sigmoid {
			factor[t] = 1
		}
	}
	at := r.OutputAt.at(b, h, t0)
	if r.Sigmoid {
		copyRows(r.Out[at:], step, w.out, r.DV, rows, r.DV)
		return
	}
	simd.ScaleRows(rows, r.DV, r.Out[at:], step, w.out, factors)
	for t, sum := range sums {
		if sum == 0 {
			copy(r.Out[at+t*step:][:r.DV], w.out[t*r.DV:]) // 0, or the product of a NaN or ∞ with weights of 0
		}
	}
}
