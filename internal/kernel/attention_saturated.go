package kernel

// The gradient of a score is weight·(dP − δ) with δ = Σ dOut⊙Out, which is Σ weight·dP summed in another order. Where
// one key has nearly all of the weight, δ is nearly the dP of that key, and dP − δ cancels: only the rounding
// difference of the two sums is left, though the gradient is close to 0, or 0 if no other key is seen. For such rows δ
// is recomputed as Σ weight·dP from the dP of the tiles.

// saturated is the most by which the log-sum-exp of a saturated row is above its largest score: the weight of that key
// is 7/8.
const saturated = 0.1335

// isSaturated reports whether a row is marked as saturated, or is summed to a bias that the whole row shares, whose
// gradient is a rounding error only.
func (r *attentionRun[F]) isSaturated(row int) bool {
	factor := r.LSE[2*r.B*r.H*r.T+row]
	return factor < 0 || factor > 0 && r.grad.Bias != nil && r.BiasAt.Key == 0 && !r.Sigmoid
}

// seesOne reports whether a query sees only one key, whose weight is then 1 whatever its score. It returns false if the
// value is NaN or ∞.
func (r *attentionRun[F]) seesOne(b, h, t int) bool {
	if r.Visible == nil || r.Chosen != nil || r.In.Sinks != nil || r.Sigmoid || r.Precision != Full {
		return false
	}
	return r.hi[b*r.T+t]-r.lo[b*r.T+t] == 1 && isFinite(r.delta[(b*r.H+h)*r.T+t])
}

// clearOnes sets the score gradients of queries that see only one key to 0.
func (r *attentionRun[F]) clearOnes(w *backwardTiles[F], x *scores[F]) {
	if r.Chosen != nil || !r.spans[x.b*r.blocks()+x.t0/r.height()].alone {
		return
	}
	for t := range x.queries {
		if r.seesOne(x.b, x.h, x.t0+t) {
			clear(w.dp[t*keyBlock:][:x.keys])
		}
	}
}

// refine corrects Σ weight·dP of the saturated rows of block i of queries. It computes their scores once more.
func (r *attentionRun[F]) refine(b, h, i int) {
	t0, first, last := i*r.height(), -1, 0
	row := (b*r.H+h)*r.T + t0
	for t := range min(r.height(), r.T-t0) {
		if r.isSaturated(row+t) && !r.seesOne(b, h, t0+t) {
			if first < 0 {
				first = t
			}
			last = t
		}
	}
	if first < 0 {
		return
	}
	var rests [queryBlock]float64 // for each row: the sum of its score gradients, which must become 0
	w := r.backwardRoom()
	seen := r.spanOf(b, t0+first, t0+last+1)
	for j := seen.lo / keyBlock; j*keyBlock < seen.hi; j++ {
		r.loadKeys(&w, b, h/(r.H/r.K), j*keyBlock, min(keyBlock, seen.hi-j*keyBlock))
		r.addRests(&w, &rests, seen, h, t0, first, last+1)
	}
	poolOf[F](&attentionTilePools).Put(w.attentionTiles)
	for t := first; t <= last; t++ {
		if r.isSaturated(row + t) {
			r.correct(row+t, h, rests[t])
		}
	}
}

// addRests adds a tile's score gradients to the residuals of the rows [first,end) of the block that begins at t0. The
// tile has the same bits as the tile from which the gradients are computed.
func (r *attentionRun[F]) addRests(w *backwardTiles[F], rests *[queryBlock]float64, seen span, h, t0, first, end int) {
	x, s1 := r.backwardScores(w, &seen, h, t0, first, end)
	if x.queries <= 0 || !r.readShown(&x, w.attentionTiles) {
		return
	}
	q, dout := r.rowsOfTile(w, &x)
	r.softmax(w, &x, q, dout, s1)
	r.clearHidden(w, &x, w.p)
	r.clearHidden(w, &x, w.dp)
	row := (x.b*r.H+x.h)*r.T + x.t0
	for t := range x.queries {
		if !r.isSaturated(row + t) {
			continue
		}
		for _, v := range w.dp[t*keyBlock:][:x.keys] {
			rests[x.t0-t0+t] += float64(v)
		}
	}
}

// correct subtracts the residual of a row, left, from its Σ weight·dP.
func (r *attentionRun[F]) correct(row, h int, left float64) {
	if r.In.Sinks != nil {
		left -= float64(r.sinkShare(row, h) * r.delta[row])
	}
	sum := float64(r.delta[row]) + left
	if delta := F(sum); isFinite(delta) {
		r.delta[row], r.low[row] = delta, F(sum-float64(delta))
	}
}
