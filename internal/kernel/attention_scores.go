package kernel

import "attention/internal/simd"

// scores is a tile of scores of one head: query t0+i and key s0+j have data[i·queryStep+j·keyStep],
// where one of the steps is 1.
type scores[F Float] struct {
	data               []F
	b, h               int
	t0, queries        int
	s0, keys           int
	queryStep, keyStep int
	hidden             bool             // whether a query does not see a key
	of                 []int32          // the list of queries that t0 is an index of; nil: queries are contiguous
	watched            *forwardTiles[F] // where the largest products are stored, if requested
}

// query returns the number of query t0+i.
func (x *scores[F]) query(i int) int {
	if x.of != nil {
		return int(x.of[x.t0+i])
	}
	return x.t0 + i
}

// lines returns the number of runs of n adjacent elements, and the distance between two of them.
func (x *scores[F]) lines() (count, n, step int) {
	if x.queryStep == 1 {
		return x.keys, x.queries, x.keyStep
	}
	return x.queries, x.keys, x.queryStep
}

// product computes the scores of a tile as A·B, caps and changes them and adds the bias. If the products are neither
// capped nor changed, they are added to the bias. slope, unless it is nil, is a tile like x and receives the derivative
// of cap and change.
func (r *attentionRun[F]) product(x *scores[F], a rowsOf[F], b []F, bRow int, slope []F) {
	rows, n, step := x.lines()
	beta := F(0)
	fill := r.In.Bias != nil && r.Softcap == 0 && r.Score == nil && x.biased(&r.Attention).keys == x.keys
	if fill {
		if x.watched != nil {
			r.multiply(rows, n, r.D, F(r.Scale), a.data, a.row, b, bRow, 0, x.watched.raw, step)
			r.watchProducts(x.watched, x, x.watched.raw)
		}
		r.addBias(x, true)
		beta = 1
	}
	r.multiply(rows, n, r.D, F(r.Scale), a.data, a.row, b, bRow, beta, x.data, step)
	if x.watched != nil && !fill && r.changesProducts() {
		r.watchProducts(x.watched, x, x.data)
	}
	r.alter(x, slope, fill)
}

// alter caps and changes a tile of products, and adds the biases; filled means that they have r.In.Bias already.
func (r *attentionRun[F]) alter(x *scores[F], slope []F, filled bool) {
	if r.Softcap > 0 {
		rows, n, step := x.lines()
		simd.CapRows(rows, n, x.data, step, slope, F(r.Softcap))
	}
	if r.Score != nil {
		r.change(x, slope)
	}
	biased := x.biased(&r.Attention)
	if r.In.Bias != nil && !filled {
		r.addBias(&biased, false)
	}
	if r.In.Relative != nil {
		r.addRelative(&biased)
	}
	if r.In.Forget.Key != nil {
		r.forget(&biased)
	}
	if r.Sigmoid && r.SigmoidBias != 0 {
		x.shift(F(r.SigmoidBias))
	}
}

// changesProducts reports whether scores differ from scaled products.
func (r *attentionRun[F]) changesProducts() bool {
	return r.Softcap > 0 || r.Score != nil || r.In.Bias != nil || r.In.Relative != nil || r.In.Forget.Key != nil ||
		r.SigmoidBias != 0
}

// biased returns the part of a tile whose keys have a bias.
func (x *scores[F]) biased(a *Attention) scores[F] {
	y := *x
	y.keys = min(x.keys, max(a.biased()-x.s0, 0))
	return y
}
