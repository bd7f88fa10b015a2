package kernel

import "attention/internal/simd"

// A hidden key has the weight 0 in a tile. But 0 times NaN or ∞ is NaN, and the weight of a visible key may be 0 as
// well. Therefore the products of a tile use the mask, not the weights, to leave out keys.

// sumKeys computes out ← α·W·in + β·out for the tile W: a sum over the keys that each query sees.
func (r *attentionRun[F]) sumKeys(w *attentionTiles[F], x *scores[F], alpha F, in operandRows[F], beta F,
	out rowsOf[F]) {
	sum := seenSum[F]{
		weights: Matrix[F]{Data: x.data, Row: x.queryStep, Col: x.keyStep}, outs: x.queries, ins: x.keys, alpha: alpha,
		beta: beta, in: in, out: out, times: r.Precision, memory: w,
	}
	sum.compute(x.hidden, func(query, key int) bool { return r.sees(w, x, query, key) })
}

// sumQueries computes out ← α·Wᵀ·in + β·out: a sum over the queries that see each key.
func (r *attentionRun[F]) sumQueries(w *attentionTiles[F], x *scores[F], alpha F, in operandRows[F], beta F,
	out rowsOf[F]) {
	sum := seenSum[F]{
		weights: Matrix[F]{Data: x.data, Row: x.keyStep, Col: x.queryStep}, outs: x.keys, ins: x.queries, alpha: alpha,
		beta: beta, in: in, out: out, times: r.Precision, memory: w,
	}
	sum.compute(x.hidden, func(key, query int) bool { return r.sees(w, x, query, key) })
}

// seenSum is out ← α·W·in + β·out. The weights W (outs,ins) of pairs that do not see each other are 0.
type seenSum[F Float] struct {
	weights     Matrix[F]
	outs, ins   int
	alpha, beta F
	in          operandRows[F]
	out         rowsOf[F]
	times       Precision // of the products
	memory      *attentionTiles[F]
}

// compute leaves out the pairs that do not see each other, if any are hidden.
func (g *seenSum[F]) compute(hidden bool, sees func(out, in int) bool) {
	if hidden && (g.times == Full || g.in.mayBeNonFinite) {
		in := g.in.rowsOf
		if g.times == BFloat16 {
			in = roundedRows(in, g.ins, make([]F, g.ins*in.width))
		}
		if bad := g.memory.notFinite(&in, g.ins); len(bad) > 0 {
			g.computeFinite(in, bad, sees)
			return
		}
	}
	g.multiply(g.in.along)
}

// multiply does so with rows, or pairs of neighbours in a column.
func (g *seenSum[F]) multiply(in rowsOf[F]) {
	if g.times == BFloat16 {
		g.multiplyPairs(in)
		return
	}
	product := Product[F]{M: g.outs, N: in.width, K: g.ins, Alpha: g.alpha, A: g.weights, B: Rows(in.data, in.row),
		Beta: g.beta, C: Rows(g.out.data, g.out.row)}
	product.alone()
}

// multiplyPairs rounds the weights.
func (g *seenSum[F]) multiplyPairs(in rowsOf[F]) {
	if min(g.outs, g.ins, in.width) == 0 {
		return
	}
	weights, k := simd.Singles(g.weights.Data), (g.ins+1)/2
	if g.weights.Row == 1 {
		ld := simd.WholePanels(g.outs)
		pairs := room(&g.memory.pairs, k*ld)
		pairUp(g.outs, g.ins, weights, g.weights.Col, simd.Singles(pairs), ld, simd.PairWidth)
		multiplyPairs(g.outs, in.width, k, g.alpha, pairs, 1, ld, in.data, in.row, g.beta, g.out.data, g.out.row)
		return
	}
	ld := simd.PairsOf(g.ins)
	pairs := room(&g.memory.pairs, g.outs*ld)
	simd.PairElements(g.outs, g.ins, weights, g.weights.Row, simd.Singles(pairs), ld)
	multiplyPairs(g.outs, in.width, k, g.alpha, pairs, ld, 1, in.data, in.row, g.beta, g.out.data, g.out.row)
}

// copied returns a copy of rows with the same stride, since the method of a product with one column depends on it.
func (g *seenSum[F]) copied(in rowsOf[F]) rowsOf[F] {
	c := in
	c.data = make([]F, (g.ins-1)*in.row+in.width)
	for i := range g.ins {
		copy(c.at(i), in.at(i))
	}
	return c
}

// computeFinite computes with 0 in place of NaN and ∞ in the bad rows of in, then adds the terms of NaN and ∞ to those
// rows of out that see them.
func (g *seenSum[F]) computeFinite(in rowsOf[F], bad []int, sees func(out, in int) bool) {
	rest := g.copied(in)
	for _, i := range bad {
		row := rest.at(i)
		for d, v := range row {
			if !isFinite(v) {
				row[d] = 0
			}
		}
	}
	if g.times == BFloat16 {
		ld := simd.WholePanels(rest.width)
		along := rowsOf[F]{make([]F, (g.ins+1)/2*ld), ld, rest.width}
		pairUp(rest.width, g.ins, simd.Singles(rest.data), rest.row, simd.Singles(along.data), ld, simd.PairWidth)
		rest = along
	}
	g.multiply(rest)
	for _, i := range bad {
		for o := range g.outs {
			if !sees(o, i) {
				continue
			}
			out, weight := g.out.at(o), g.weights.Data[o*g.weights.Row+i*g.weights.Col]
			for d, v := range in.at(i) {
				if !isFinite(v) {
					out[d] += g.alpha * (weight * v)
				}
			}
		}
	}
}
