package kernel

// RowStatistics receives what an attention knows of each row's weights before dropout, (B,H,T) each. A row that sees
// nothing, or only scores of −∞, has the largest score and product −∞ and 0 for the rest, but all of a sink's share.
type RowStatistics[F Float] struct {
	MaxScore   []F // what the softmax sees
	MaxProduct []F // max Scale·q·k of the keys that the query sees
	Entropy    []F // −Σ weight·log weight over the keys, in nats
	First      []F // the weight of key 0
	Own        []F // of key t + Offset
	Previous   []F // of key t + Offset − 1
	Sink       []F // exp(sink − lse), what the keys' weights leave of 1; 0 if there are no sinks

	Offset int // query t stands at this key + t; there is no weight where that is not one of the Unbiased others
}

// slices returns the statistics in order.
func (x *RowStatistics[F]) slices() [7][]F {
	return [...][]F{x.MaxScore, x.MaxProduct, x.Entropy, x.First, x.Own, x.Previous, x.Sink}
}

// AttentionForwardWatched is AttentionForward that also computes statistics of the weights; out and lse get the same
// bits.
func AttentionForwardWatched[F Float](a *Attention, out, lse []F, stats RowStatistics[F], in QKV[F]) {
	checkAttention(a, out, lse, &in)
	for _, x := range stats.slices() {
		if len(x) < a.B*a.H*a.T {
			panic("kernel: attention: statistics: slice is too short")
		}
	}
	attend(a, out, lse, &stats, in)
}

// watchedRows is what is known of each query of a block so far.
type watchedRows[F Float] struct {
	score, product       []F // the largest
	moment               []F // Σ exp(score−max)·(score−max), of the sink too
	first, own, previous []F // scores of these keys, −∞ if they are not seen
}

// begin forgets the rows before. The sink, if there is one, is the maximum and adds nothing to the moment.
func (w *watchedRows[F]) begin(rows int) {
	for t := range rows {
		w.score[t], w.product[t] = lowest[F](), lowest[F]()
	}
	copy(w.first[:rows], w.score)
	copy(w.own[:rows], w.score)
	copy(w.previous[:rows], w.score)
	clear(w.moment[:rows])
}

// watchProducts takes the largest of each query's products, those that it does not see left out.
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
	maxColumns(chosenPath, x.keys, x.queries, data, queryBlock, w.top)
	raiseTo(w.watched.product[x.t0-w.t0:][:x.queries], w.top)
}

// watchScores takes the largest of each query's scores, in top, and those of the keys that are watched.
func (r *attentionRun[F]) watchScores(w *forwardTiles[F], x *scores[F]) {
	from := x.t0 - w.t0
	raiseTo(w.watched.score[from:][:x.queries], w.top[from:])
	if x.s0 == 0 && x.s0 < r.biased() {
		copy(w.watched.first[from:][:x.queries], x.data)
	}
	r.watchDiagonal(x, r.stats.Offset, w.watched.own[from:])
	r.watchDiagonal(x, r.stats.Offset-1, w.watched.previous[from:])
}

// watchDiagonal takes the score of query t and key t + offset.
func (r *attentionRun[F]) watchDiagonal(x *scores[F], offset int, to []F) {
	first := x.t0 + offset - x.s0 // the row of the first query's
	keys := min(x.keys, r.biased()-x.s0)
	for i := max(0, -first); i < min(x.queries, keys-first); i++ {
		to[i] = x.data[(first+i)*queryBlock+i]
	}
}

// raiseTo sets x to the larger of x and y.
func raiseTo[F Float](x, y []F) {
	for i, v := range y[:len(x)] {
		if v > x[i] {
			x[i] = v
		}
	}
}

// storeStatistics writes the statistics of the rows [first,first+rows), which are a block.
func (r *attentionRun[F]) storeStatistics(w *forwardTiles[F], first, rows int, sink F) {
	s, to := &w.watched, &r.stats
	if !r.changesProducts() {
		copy(s.product, s.score)
	}
	shifts, factors := w.top[:rows], w.first[:rows] // a weight is exp(score − shift)·factor
	for t, sum := range w.sum[:rows] {
		shifts[t], factors[t] = w.max[t], 1/sum
		if sum == 0 {
			shifts[t], factors[t], w.logs[t] = 0, 0, 0 // so that all are 0
		}
		if sum != sum {
			s.score[t], s.product[t] = sum, sum // which may have lost a NaN
		}
	}
	copy(to.MaxScore[first:][:rows], s.score)
	copy(to.MaxProduct[first:][:rows], s.product)
	w.storeWeights(to.First[first:][:rows], s.first)
	w.storeWeights(to.Own[first:][:rows], s.own)
	w.storeWeights(to.Previous[first:][:rows], s.previous)
	share := to.Sink[first:][:rows]
	if clear(share); r.in.Sinks != nil {
		for t := range rows {
			w.last[t] = sink
		}
		w.storeWeights(share, w.last)
	}
	// −Σ p·log p = Σ p·(log sum − (score − max)), without the sink.
	entropy := to.Entropy[first:][:rows]
	for t := range entropy {
		h := w.logs[t] - s.moment[t]*factors[t]
		if share[t] != 0 {
			h -= share[t] * (w.logs[t] - (sink - shifts[t]))
		}
		if h < 0 { // by rounding
			h = 0
		}
		entropy[t] = h
	}
}

// storeWeights writes the weights of scores, one of each query.
func (w *forwardTiles[F]) storeWeights(weights, scores []F) {
	for t, shift := range w.top[:len(weights)] {
		weights[t] = scores[t] - shift
	}
	exp(chosenPath, weights, weights)
	for t, factor := range w.first[:len(weights)] {
		weights[t] *= factor
	}
}
