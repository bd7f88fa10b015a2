package kernel

// backwardTile computes what one block of queries and one block of keys contribute to each other.
func (r *attentionRun[F]) backwardTile(w *backwardTiles[F], seen span, h, i int) {
	t0 := i * r.height()
	rows := min(r.height(), r.T-t0)
	s1, s2 := (max(w.s0, seen.lo)-w.s0)&^(vector-1), min(w.s0+w.keys, seen.hi)-w.s0 // whole vectors
	r.look(w.attentionTiles, w.b, t0, rows)
	t1, t2, all := w.seeing(&seen, rows, w.s0+s1, w.s0+s2)
	t1 = min(t1, t2) // also when no query sees any of the keys
	if t1 < t2 {
		x := scores[F]{
			data: w.p, b: w.b, h: h, t0: t0 + t1, queries: t2 - t1, s0: w.s0 + s1, keys: s2 - s1,
			queryStep: keyBlock, keyStep: 1,
		}
		if seen := r.askShown(&x, w.attentionTiles); seen {
			r.weights(w, &x, s1, t1, all)
			r.addKeys(w, &x, s1)
		} else {
			t1, t2 = 0, 0
		}
	}
	if r.grad.Q == nil {
		return
	}
	turn := &r.turns[(w.b*r.H+h)*r.blocks()+i]
	first := seen.lo / keyBlock
	if !r.await(turn, int32(w.s0/keyBlock-first)) {
		return
	}
	beta := F(1)
	if w.s0/keyBlock == first {
		beta = 0
		r.clearQueries(w.b, h, t0, t0+t1)
		r.clearQueries(w.b, h, t0+t2, t0+rows)
	}
	if t1 < t2 {
		k, dq := r.in.K[r.KeyAt.at(w.b, w.group, w.s0+s1):], r.grad.Q[r.QueryAt.at(w.b, h, t0+t1):]
		multiply(NoTrans, t2-t1, r.D, s2-s1, F(r.Scale), w.dp, keyBlock, k, r.KeyAt.Row, beta, dq, r.QueryAt.Row)
	}
	turn.Add(1)
}

// weights fills p with the weights of a tile and dp with the gradients of its scores.
func (r *attentionRun[F]) weights(w *backwardTiles[F], x *scores[F], s1, t1 int, all bool) {
	r.product(x, r.in.Q[r.QueryAt.at(x.b, x.h, x.t0):], r.QueryAt.Row, w.k[s1:], keyBlock, w.slope)
	dout := r.dout[r.OutputAt.at(x.b, x.h, x.t0):]
	multiply(NoTrans, x.queries, x.keys, r.DV, 1, dout, r.OutputAt.Row, w.v[s1:], keyBlock, 0, w.dp, keyBlock)
	if !all {
		x.hideRows(w.lo[t1:], w.hi[t1:])
	}
	r.hideUnshown(x, w.attentionTiles)
	dp := *x
	dp.data = w.dp
	r.drop(&dp)
	row := (x.b*r.H+x.h)*r.T + x.t0
	lse := w.lse[:x.queries]
	copy(lse, r.lse[row:])
	for t, v := range lse {
		if v == lowest[F]() {
			lse[t] = -v // −∞ − ∞ is −∞, and its exponential 0
		}
	}
	gradientRows(chosenPath, x.queries, x.keys, w.p, w.dp, keyBlock, lse, r.delta[row:])
	r.drop(x)
	if r.grad.Bias != nil || r.grad.Relative != nil {
		r.addBias(&dp)
	}
	if r.Softcap > 0 {
		for t := range x.queries {
			line := w.dp[t*keyBlock:][:x.keys]
			for s, v := range w.slope[t*keyBlock:][:x.keys] {
				line[s] *= v
			}
		}
	}
}

// addKeys adds what a tile contributes to dk and dv.
func (r *attentionRun[F]) addKeys(w *backwardTiles[F], x *scores[F], s1 int) {
	if r.grad.V != nil {
		dout, dv := r.dout[r.OutputAt.at(x.b, x.h, x.t0):], w.dv[s1*r.DV:]
		multiply(Trans, x.keys, r.DV, x.queries, 1, w.p, keyBlock, dout, r.OutputAt.Row, 1, dv, r.DV)
	}
	if r.grad.K != nil {
		q, dk := r.in.Q[r.QueryAt.at(x.b, x.h, x.t0):], w.dk[s1*r.D:]
		multiply(Trans, x.keys, r.D, x.queries, F(r.Scale), w.dp, keyBlock, q, r.QueryAt.Row, 1, dk, r.D)
	}
}
