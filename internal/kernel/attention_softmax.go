package kernel

import (
	"math"

	"attention/internal/simd"
)

// weighBySoftmax turns a tile of scores into exp(score−max), and adds these to the sums of their queries.
func (r *attentionRun[F]) weighBySoftmax(w *forwardTiles[F], x *scores[F]) {
	from, keys, n, p := x.t0-w.t0, x.keys, x.queries, x.data
	end := from + n
	simd.MaxColumns(keys, n, p, queryBlock, w.top[from:])
	if r.watched() {
		simd.Greater(w.watched.score[from:end], w.watched.score[from:end], w.top[from:])
	}
	w.raise(from, end, r.DV, r.watched())
	sum := w.part[from:] // tile by tile, as the values are added up
	clear(sum[:n])
	if r.watched() {
		simd.MomentColumns(keys, n, p, queryBlock, w.top[from:], sum, w.watched.moment[from:])
		r.watchWeights(w, x)
	} else {
		simd.ExpColumns(keys, n, p, queryBlock, w.top[from:], sum)
	}
	for t, v := range sum[:n] {
		w.sum[from+t] += v
	}
}

// raise raises the maxima of the queries [t1,t2) to those of the tile in top, and sets top to the numbers to subtract
// from the tile. A maximum may stay too low by up to slack: then nothing needs to be scaled, and exp(slack) is far from
// overflow.
func (w *forwardTiles[F]) raise(t1, t2, width int, watched bool) {
	const slack = 8
	for t := t1; t < t2; t++ {
		old, top := w.max[t], w.top[t]
		if top > w.peak[t] {
			w.peak[t] = top
		}
		if !(top <= old+slack) || old == simd.NegInf[F]() {
			w.max[t] = top
			if old != simd.NegInf[F]() {
				f := F(math.Exp(float64(old - top)))
				if watched {
					w.watched.shrink(t, f, old-top, w.sum[t])
				}
				w.sum[t] *= f
				row := w.out[t*width:][:width]
				for d := range row {
					row[d] *= f
				}
			}
		}
		w.top[t] = w.max[t]
		if w.max[t] == simd.NegInf[F]() {
			w.top[t] = 0 // −∞ − −∞ would be NaN
		}
	}
}
