package kernel

import "attention/internal/simd"

// backwardTile adds the gradients of one block of queries and one block of keys.
func (r *attentionRun[F]) backwardTile(w *backwardTiles[F], seen span, h, i int) {
	t0 := i * r.height()
	rows := min(r.height(), r.T-t0)
	x, s1 := r.backwardScores(w, &seen, h, t0, 0, rows)
	t1, t2 := x.t0-t0, x.t0-t0+x.queries
	if t1 < t2 {
		if seen := r.readShown(&x, w.attentionTiles); seen {
			q, dout := r.rowsOfTile(w, &x)
			r.weights(w, &x, q, dout, s1)
			r.addKeys(w, &x, q, dout, s1)
		} else {
			t1, t2 = 0, 0
		}
	}
	if r.grad.Q == nil && r.grad.Forget.Query == nil {
		return
	}
	first, last := seen.lo/keyBlock, (seen.hi-1)/keyBlock
	turn := &r.turns[(w.b*r.H+h)*r.blocks()+i]
	if first < last && !r.await(turn, int32(w.s0/keyBlock-first)) {
		return
	}
	beta := F(1)
	if w.s0/keyBlock == first {
		beta = 0
		r.clearQueries(w.b, h, t0, t0+t1)
		r.clearQueries(w.b, h, t0+t2, t0+rows)
	}
	if t1 < t2 {
		r.addRowSums(w, &x)
	}
	if t1 < t2 && r.grad.Q != nil {
		x.data = w.dp
		dq := rowsOf[F]{r.grad.Q[r.QueryAt.at(w.b, h, x.t0):], r.QueryAt.Row, r.D}
		r.sumKeys(w.attentionTiles, &x, F(r.Scale), w.keyRows.from(s1), beta, dq)
	}
	if first < last {
		turn.Add(1)
	}
}

// backwardScores returns the tile of the block of queries that begins at t0, and the index of the tile's first key in
// the block of keys. The tile has only the rows in [first,end): the outermost rows that see none of its keys are left
// out.
func (r *attentionRun[F]) backwardScores(w *backwardTiles[F], seen *span, h, t0, first, end int) (scores[F], int) {
	r.selectQueries(w.attentionTiles, w.b, t0, end)
	return r.scoresOf(w, seen, h, t0, first, end)
}

// scoresOf is backwardScores of the selected queries.
func (r *attentionRun[F]) scoresOf(w *backwardTiles[F], seen *span, h, t0, first, end int) (scores[F], int) {
	s1, s2 := (max(w.s0, seen.lo)-w.s0)&^(vector-1), min(w.s0+w.keys, seen.hi)-w.s0 // whole vectors
	t1, t2, all := w.seeing(seen, end, w.s0+s1, w.s0+s2)
	t1 = min(t1, t2) // even if no query sees any of the keys
	if r.Precision == BFloat16 && t1 < t2 {
		from, to := wholePairs(t1, t2, end)
		all = all && from == t1 && to == t2
		t1, t2 = from, to
	}
	t1 = min(max(t1, first), t2)
	return scores[F]{
		data: w.p, b: w.b, h: h, t0: t0 + t1, queries: t2 - t1, s0: w.s0 + s1, keys: s2 - s1,
		queryStep: keyBlock, keyStep: 1, hidden: !all, of: w.queries,
	}, s1
}

// rowsOfTile returns the queries of a tile and the gradients of their outputs.
func (r *attentionRun[F]) rowsOfTile(w *backwardTiles[F], x *scores[F]) (q, dout operandRows[F]) {
	both := forms{across: true, along: true}
	if x.of != nil {
		queries := x.of[x.t0:][:x.queries]
		q = r.rowsOf(w.attentionTiles, 0, r.queryRows(x.b, x.h), queries)
		return q, r.rowsOf(w.attentionTiles, 1, r.outputRows(x.b, x.h), queries)
	}
	q = r.operand(w.attentionTiles, &w.copies[0], r.queryRows(x.b, x.h), x.t0, x.queries, both)
	return q, r.operand(w.attentionTiles, &w.copies[1], r.outputRows(x.b, x.h), x.t0, x.queries, both)
}

// softmax fills p with the weights of a tile before dropout and dp with the gradients of the softmax's input, both also
// for hidden keys.
func (r *attentionRun[F]) softmax(w *backwardTiles[F], x *scores[F], q, dout operandRows[F], s1 int) {
	if r.isSingle() {
		r.singleProducts(w, x, q.rowsOf, dout.rowsOf, s1)
	} else {
		r.product(x, q.across, w.k[s1:], keyBlock, w.slope)
		r.multiply(x.queries, x.keys, r.DV, 1, dout.across.data, dout.across.row, w.v[s1:], keyBlock, 0, w.dp, keyBlock)
	}
	dp := *x
	dp.data = w.dp
	r.drop(&dp)
	if r.Sigmoid {
		w.sigmoidGradients(x)
	} else {
		r.softmaxGradients(w, x)
	}
	if x.hidden {
		w.bound(x, w.first, w.last)
	}
}

// singleProducts fills p with the scores of a single query, with the bits of the forward, and dp with the products of
// its output's gradient with the values.
func (r *attentionRun[F]) singleProducts(w *backwardTiles[F], x *scores[F], q, dout rowsOf[F], s1 int) {
	scores, keys, values := w.p[:x.keys], w.keyRows.from(s1), r.valueRows(x.b, w.group).from(x.s0)
	simd.RowDots(r.D, keys.data, keys.row, q.data, 0, scores)
	simd.Scale(scores, scores, F(r.Scale))
	simd.RowDots(r.DV, values.data, values.row, dout.data, 0, w.dp[:x.keys])
	r.alter(x, w.slope, false)
}

// softmaxGradients turns scores in p and gradients of the weights in dp into weights and gradients of the scores.
func (r *attentionRun[F]) softmaxGradients(w *backwardTiles[F], x *scores[F]) {
	n, row := x.queries, (x.b*r.H+x.h)*r.T
	_, shifts, _ := r.numbersOf(row, r.T)
	deltas, lows, factors := r.delta[row:], r.low[row:], r.factor[row:]
	if x.of == nil {
		simd.GradientRows(n, x.keys, w.p, w.dp, keyBlock, shifts[x.t0:], factors[x.t0:], deltas[x.t0:],
			lows[x.t0:])
		return
	}
	shift, factor, delta, low := w.numbers[0][:n], w.numbers[1][:n], w.numbers[2][:n], w.numbers[3][:n]
	for i := range n {
		t := x.query(i)
		shift[i], factor[i], delta[i], low[i] = shifts[t], factors[t], deltas[t], lows[t]
	}
	simd.GradientRows(n, x.keys, w.p, w.dp, keyBlock, shift, factor, delta, low)
}

// weights fills p with the weights of a tile and dp with the gradients of their products.
func (r *attentionRun[F]) weights(w *backwardTiles[F], x *scores[F], q, dout operandRows[F], s1 int) {
	r.softmax(w, x, q, dout, s1)
	r.drop(x)
	r.clearHidden(w, x, w.p)
	r.clearHidden(w, x, w.dp)
	r.clearOnes(w, x)
	dp := *x
	dp.data = w.dp
	if r.grad.Bias != nil || r.grad.Relative != nil {
		r.addBiasGradients(&dp)
	}
	if r.grad.Forget.Key != nil {
		r.addForgetting(w, &dp)
	}
	if len(w.slope) > 0 {
		for t := range x.queries {
			line := w.dp[t*keyBlock:][:x.keys]
			simd.Mul(line, line, w.slope[t*keyBlock:][:x.keys])
		}
		r.clearHidden(w, x, w.dp) // the slope may be NaN
	}
}

// addKeys adds the gradients of a tile's keys and values to dk and dv.
func (r *attentionRun[F]) addKeys(w *backwardTiles[F], x *scores[F], q, dout operandRows[F], s1 int) {
	beta := w.beginSums(s1, s1+x.keys)
	if r.grad.V != nil {
		r.sumQueries(w.attentionTiles, x, 1, dout, beta, w.sumV.from(s1))
	}
	if r.grad.K != nil {
		dp := *x
		dp.data = w.dp
		r.sumQueries(w.attentionTiles, &dp, F(r.Scale), q, beta, w.sumK.from(s1))
	}
}
