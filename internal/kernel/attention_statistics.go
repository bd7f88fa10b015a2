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
	marks                []F // the three that follow, one after the other
	first, own, previous []F // scores of these keys, −∞ if they are not seen
}

// begin forgets the rows before. The sink, if there is one, is the maximum and adds nothing to the moment.
func (w *watchedRows[F]) begin(rows int) {
	none := lowest[F]()
	for t := range w.score[:rows] {
		w.score[t] = none
	}
	copy(w.product[:rows], w.score)
	w.marks = w.marks[:3*rows]
	w.first, w.own, w.previous = w.marks[:rows], w.marks[rows:2*rows], w.marks[2*rows:]
	copy(w.first, w.score)
	copy(w.own, w.score)
	copy(w.previous, w.score)
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
	r.watchDiagonals(x, w.watched.own[from:], w.watched.previous[from:])
}

// watchDiagonals takes the scores of query t and the keys t + offset and t + offset − 1.
func (r *attentionRun[F]) watchDiagonals(x *scores[F], own, previous []F) {
	first := x.t0 + r.stats.Offset - x.s0 // the row of the first query's own key
	keys := min(x.keys, r.biased()-x.s0)
	lo, hi := max(0, -first), min(x.queries, keys+1-first)
	at := (first+lo)*queryBlock + lo
	for i := lo; i < hi; i++ {
		if first+i < keys {
			own[i] = x.data[at]
		}
		if first+i > 0 {
			previous[i] = x.data[at-queryBlock]
		}
		at += queryBlock + 1
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
		copy(s.product[:rows], s.score)
	}
	r.shiftWatched(w, rows)
	exp(chosenPath, s.marks, s.marks)
	share := to.Sink[first:][:rows]
	if clear(share); r.in.Sinks != nil {
		for t := range share {
			share[t] = sink - w.top[t]
		}
		exp(chosenPath, share, share)
	}
	copy(to.MaxScore[first:][:rows], s.score)
	copy(to.MaxProduct[first:][:rows], s.product)
	to0, to1, to2 := to.First[first:][:rows], to.Own[first:][:rows], to.Previous[first:][:rows]
	from0, from1, from2 := s.first[:rows], s.own[:rows], s.previous[:rows]
	entropy, moment, logs := to.Entropy[first:][:rows], s.moment[:rows], w.logs[:rows]
	for t, factor := range w.first[:rows] {
		to0[t], to1[t], to2[t] = from0[t]*factor, from1[t]*factor, from2[t]*factor
		// −Σ p·log p = Σ p·(log sum − (score − max)), without the sink.
		h := logs[t] - moment[t]*factor
		if share[t] != 0 {
			share[t] *= factor
			h -= share[t] * (logs[t] - (sink - w.top[t]))
		}
		if h < 0 { // by rounding
			h = 0
		}
		entropy[t] = h
	}
}

// shiftWatched subtracts from the scores of the watched keys what their weights, exp(score − shift)/sum, need.
// The shifts go to top.
func (r *attentionRun[F]) shiftWatched(w *forwardTiles[F], rows int) {
	s := &w.watched
	first, own, previous := s.first[:rows], s.own[:rows], s.previous[:rows]
	shifts, most := w.top[:rows], w.max[:rows]
	for t, sum := range w.sum[:rows] {
		shift := most[t]
		if sum == 0 {
			shift, w.logs[t] = 0, 0 // so that all are 0
		}
		if sum != sum {
			s.score[t], s.product[t] = sum, sum // which may have lost a NaN
		}
		shifts[t] = shift
		first[t] -= shift
		own[t] -= shift
		previous[t] -= shift
	}
}
