package kernel

import "math"

// In the gradient weight⊙(dP − Σ dOut⊙Out) of scores, what is subtracted is Σ weight·dP, summed in another order. Where
// one key has nearly all of the weight, it is all but the dP of that key: they cancel, and the difference of the orders
// is left, though the gradient is next to 0. Of scores that are large too, gradients of queries and keys are
// such differences times large numbers. The rows where that is so take the sum from the very dP of the tiles.

// saturated is the most by which the log-sum-exp of a saturated row is above its largest score: the weight of that key
// is 7/8.
const saturated = 0.1335

// largeFrom is the least size of a log-sum-exp from which on its rounding is not neglected and a row is told to be
// saturated.
const largeFrom = 16

// isLarge reports whether a log-sum-exp is large.
func (r *attentionRun[F]) isLarge(lse F) bool { return lse >= largeFrom || lse <= -largeFrom }

// marked returns what rounding took from a large lse, with the mark of a saturated row: it is the last bit.
func marked[F Float](lost F, saturated bool) F {
	mark := uint64(0)
	if saturated {
		mark = 1
	}
	if sizeOf[F]() == 4 {
		return F(math.Float32frombits(math.Float32bits(float32(lost))&^1 | uint32(mark)))
	}
	return F(math.Float64frombits(math.Float64bits(float64(lost))&^1 | mark))
}

// isSaturated reports whether a row has the mark.
func (r *attentionRun[F]) isSaturated(row int) bool {
	if lse := r.lse[row]; !r.isLarge(lse) || !isFinite(lse) {
		return false
	}
	lost := r.lse[r.B*r.H*r.T+row]
	if sizeOf[F]() == 4 {
		return math.Float32bits(float32(lost))&1 == 1
	}
	return math.Float64bits(float64(lost))&1 == 1
}

// rest is what is to become 0 in a row: the sum of the gradients of its scores. weights is that of its weights, with
// the sink's.
type rest struct{ gradients, weights float64 }

// refine corrects Σ weight·dP of the saturated rows of block i of queries, and makes their weights add up to 1. It goes
// over their scores once more.
func (r *attentionRun[F]) refine(seen span, b, h, i int) {
	t0, first, last := i*r.height(), -1, 0
	row := (b*r.H+h)*r.T + t0
	for t := range min(r.height(), r.T-t0) {
		if r.isSaturated(row + t) {
			if first < 0 {
				first = t
			}
			r.factor[row+t], last = 1, t
		}
	}
	if first < 0 {
		return
	}
	var rests [queryBlock]rest
	w := r.backwardRoom()
	for j := seen.lo / keyBlock; j*keyBlock < seen.hi; j++ {
		r.takeKeys(&w, b, h/(r.H/r.K), j*keyBlock, min(keyBlock, r.S-j*keyBlock))
		r.addRests(&w, &rests, seen, h, t0, first, last+1)
	}
	poolOf[F](&attentionTilePools).Put(w.attentionTiles)
	for t := first; t <= last; t++ {
		if r.isSaturated(row + t) {
			r.correct(row+t, h, rests[t])
		}
	}
}

// addRests adds what a tile leaves of the rows [first,end) of the block from t0 on. The numbers of the tile have the
// bits of those that the gradients are computed from.
func (r *attentionRun[F]) addRests(w *backwardTiles[F], rests *[queryBlock]rest, seen span, h, t0, first, end int) {
	x, s1 := r.backwardScores(w, &seen, h, t0, first, end)
	if x.queries <= 0 || !r.askShown(&x, w.attentionTiles) {
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
		sum := &rests[x.t0-t0+t]
		dp := w.dp[t*keyBlock:][:x.keys]
		for s, p := range w.p[t*keyBlock:][:x.keys] {
			sum.weights += float64(p)
			sum.gradients += float64(dp[s])
		}
	}
}

// correct takes what is left from a row.
func (r *attentionRun[F]) correct(row, h int, left rest) {
	if r.in.Sinks != nil {
		sink := math.Exp(float64(r.in.Sinks[h] - r.lse[row]))
		left.weights += sink
		left.gradients -= sink * float64(r.delta[row])
	}
	if delta := F(float64(r.delta[row]) + left.gradients/left.weights); isFinite(delta) {
		r.delta[row] = delta
	}
	if factor := F(1 / left.weights); isFinite(factor) { // also of a row that a NaN among the values has reached
		r.factor[row] = factor
	}
}
