package kernel

import (
	"math"

	"attention/internal/simd"
)

// RowStatistics receives statistics of each row's weights before dropout, (B,H,T) each. A row that sees nothing, or
// only scores of −∞, has −∞ as its largest score and product, a share of 1 for a sink, and 0 for all other statistics.
// The weights of a sigmoid are divided by their sum.
type RowStatistics[F Float] struct {
	MaxScore   []F // the largest input of the softmax
	MaxProduct []F // max Scale·q·k of the keys that the query sees
	Entropy    []F // −Σ weight·log weight over the keys, in nats
	First      []F // the weight of key 0
	Own        []F // of key t + Offset
	Previous   []F // of key t + Offset − 1
	Sink       []F // exp(sink − lse) = 1 − Σ weight; 0 without a sink
	Distance   []F // Σ weight·|t + Offset − s| over the keys s

	Offset int // query t has the position Offset + t; weights at positions without a key are 0
}

// slices returns the statistics in order.
func (x *RowStatistics[F]) slices() [8][]F {
	return [...][]F{x.MaxScore, x.MaxProduct, x.Entropy, x.First, x.Own, x.Previous, x.Sink, x.Distance}
}

// watched reports whether Forward computes statistics.
func (c *AttentionCall[F]) watched() bool { return c.Stats.MaxScore != nil }

// watchedRows holds the statistics of each query of a block so far.
type watchedRows[F Float] struct {
	score, product       []F // the largest
	moment               []F // Σ exp(score−max)·(score−max), including the sink; for a sigmoid Σ weight·log weight
	distance             []F // Σ exp(score−max)·|t + Offset − s|
	marks                []F // first, own and previous in one slice
	first, own, previous []F // exp(score−max) of these keys, 0 if they are not seen
}

// begin clears the statistics of earlier rows. The sink, if there is one, is the maximum and adds nothing to the
// moment.
func (w *watchedRows[F]) begin(rows int) {
	none := simd.NegInf[F]()
	for t := range w.score[:rows] {
		w.score[t] = none
	}
	copy(w.product[:rows], w.score)
	w.marks = w.marks[:3*rows]
	w.first, w.own, w.previous = w.marks[:rows], w.marks[rows:2*rows], w.marks[2*rows:]
	clear(w.marks)
	clear(w.moment[:rows])
	clear(w.distance[:rows])
}

// watchProducts updates the largest product of each query, without pairs that it does not see.
func (r *attentionRun[F]) watchProducts(w *forwardTiles[F], x *scores[F], data []F) {
	if x.hidden {
		seen := *x
		seen.data = w.raw[:len(data)]
		for j := range x.keys {
			copy(seen.data[j*queryBlock:][:x.queries], data[j*queryBlock:])
		}
		r.hide(w, &seen)
		data = seen.data
	}
	simd.MaxColumns(x.keys, x.queries, data, queryBlock, w.top)
	product := w.watched.product[x.t0-w.t0:][:x.queries]
	simd.Greater(product, product, w.top)
}

// shrink rescales the running statistics of query t by f when its maximum rises by −by. sum is the running sum of its
// weights.
func (w *watchedRows[F]) shrink(t int, f, by, sum F) {
	if f == 0 {
		by = 0 // which may be −∞
	}
	w.moment[t] = f * (w.moment[t] + sum*by)
	w.distance[t] *= f
	w.first[t] *= f
	w.own[t] *= f
	w.previous[t] *= f
}

// watchWeights stores exp(score−max) of the watched keys.
func (r *attentionRun[F]) watchWeights(w *forwardTiles[F], x *scores[F]) {
	from := x.t0 - w.t0
	if x.s0 == 0 && x.s0 < r.biased() {
		copy(w.watched.first[from:][:x.queries], x.data)
	}
	first := x.t0 + r.Stats.Offset - x.s0 // the row of the first query's own key
	keys := min(x.keys, r.biased()-x.s0)
	takeDiagonal(w.watched.own[from:][:x.queries], x.data, first, keys)
	takeDiagonal(w.watched.previous[from:][:x.queries], x.data, first-1, keys)
	r.addDistances(w, x, w.watched.distance[from:][:x.queries])
}

// measure writes the distances |t + Offset − s| of queries and keys to the elements t − s + S − 1.
func (r *attentionRun[F]) measure() {
	r.distances = resize(r.distances, max(0, r.T+r.S-1))
	for i := range r.distances {
		r.distances[i] = F(math.Abs(float64(i - (r.S - 1) + r.Stats.Offset)))
	}
}

// addDistances adds the distances of the keys of a tile, times exp(score−max).
func (r *attentionRun[F]) addDistances(w *forwardTiles[F], x *scores[F], sums []F) {
	at := x.t0 - x.s0 + r.S - 1
	for j := range x.keys {
		line := j * queryBlock
		simd.Mul(w.raw[line:][:len(sums)], x.data[line:][:len(sums)], r.distances[at-j:][:len(sums)])
	}
	simd.SumRows(x.keys, len(sums), queryBlock, sums, w.raw)
}

// takeDiagonal sets y[i] to row first + i and column i of x, if that is one of its rows.
func takeDiagonal[F Float](y, x []F, first, rows int) {
	lo, hi := max(0, -first), min(len(y), rows-first)
	if lo >= hi {
		return
	}
	y, x = y[lo:hi], x[(first+lo)*queryBlock+lo:]
	for i := range y {
		y[i] = x[i*(queryBlock+1)]
	}
}

// storeStatistics writes the statistics of the rows [t0,t0+rows) of a head, which form a block.
func (r *attentionRun[F]) storeStatistics(w *forwardTiles[F], b, h, t0, rows int) {
	first := (b*r.H+h)*r.T + t0
	s, to := &w.watched, &r.Stats
	if !r.changesProducts() {
		copy(s.product[:rows], s.score)
	}
	copy(to.MaxScore[first:][:rows], s.score)
	copy(to.MaxProduct[first:][:rows], s.product)
	share := to.Sink[first:][:rows]
	if clear(share); r.In.Sinks != nil {
		sink, _, _ := r.sink(h)
		r.storeShares(w, share, sink)
	}
	factors := w.first[:rows]
	simd.Mul(to.First[first:][:rows], s.first[:rows], factors)
	simd.Mul(to.Own[first:][:rows], s.own[:rows], factors)
	simd.Mul(to.Previous[first:][:rows], s.previous[:rows], factors)
	simd.Mul(to.Distance[first:][:rows], s.distance[:rows], factors)
	// −Σ p·log p = Σ p·(log sum − (score − max)), without the sink.
	entropy, moment := to.Entropy[first:][:rows], s.moment[:rows]
	simd.Mul(moment, moment, factors)
	simd.Sub(entropy, w.logs[:rows], moment)
	for t, h := range entropy {
		if h >= 0 {
			continue
		}
		if h < 0 { // by rounding, or the logarithm of 0
			entropy[t] = 0
		}
		if f := factors[t]; f != f { // the maximum may have ignored a NaN
			to.MaxScore[first+t], to.MaxProduct[first+t] = f, f
		}
	}
}

// storeShares writes the sink's share for each query, and corrects the moment so that the entropy excludes the sink.
func (r *attentionRun[F]) storeShares(w *forwardTiles[F], share []F, sink F) {
	above := w.top[:len(share)] // difference between the sink and the maximum
	for t, sum := range w.sum[:len(share)] {
		above[t] = sink
		if sum != 0 {
			above[t] -= w.max[t]
		}
	}
	simd.Exp(share, above)
	for t, e := range share {
		if e != 0 {
			w.watched.moment[t] += e * (w.logs[t] - above[t])
			share[t] *= w.first[t]
		}
	}
}
