package kernel

import "math"

// Forward computes Out and LSE, without ever holding the (T,S) scores (FlashAttention: Dao et al. 2022, algorithm 1, in
// the order of loops of Dao 2023): each block of queries goes along its keys tile by tile, keeping the running maximum
// and sum of every row. The lse of a query that sees nothing is −∞ and its factor 0, as is its output. With Stats it
// also computes statistics of the weights; Out and LSE have the same bits.
//
// Tiles of keys that are hidden from all queries of a block are not read. A NaN or ∞ in a key, a value or a bias
// reaches the rows of the queries that see the key, and no others. The bits of the result do not depend on
// GOMAXPROCS.
func (c *AttentionCall[F]) Forward() { compiledFor[F]().attentionForward(*c) }

func (compiledHere[F]) attentionForward(c AttentionCall[F]) {
	c.check()
	r := newRun(&c)
	if r.watched() {
		r.measure()
	}
	single := r.isSingle()
	switch {
	case single && !r.watched():
	case r.Chosen != nil && !r.watched():
		r.gather()
		n := r.B * r.H * r.gathered.chunks
		Parallel(n, r.grain(n, 2), r.chosen)
	default:
		n := r.B * r.H * r.blocks()
		Parallel(n, r.grain(n, 2), r.forward)
	}
	if single { // after statistics too, for the same bits
		Parallel(r.B*r.H, r.singleHeads(), r.singles)
	}
	r.end()
}

// forwardTiles is the memory for a block of queries.
type forwardTiles[F Float] struct {
	attentionTiles[F]
	q             []F  // (D,queryBlock): the queries as columns
	p             []F  // (keyBlock,queryBlock): scores and weights, one query in each column
	out           []F  // (queryBlock,DV): Σ exp(score−max)·v so far
	top, max, sum []F  // of each query: maximum of the tile, about the maximum so far, Σ exp(score−max) so far
	peak          []F  // of each query: the largest score so far
	first, last   []F  // of each query: the rows of the tile that it sees; in the end, first is 1/sum
	partly        bool // whether a query of the tile does not see all keys that Visible leaves to others

	watched watchedRows[F]
	logs    []F // of each query: log Σ exp(score−max)
	part    []F // of each query: Σ exp(score−max) of the tile
	raw     []F // (keyBlock,queryBlock): products, if what the softmax sees are not these; then what is added up
}

var forwardTilePools = newPools[forwardTiles[float32], forwardTiles[float64]]()

// forwardTasks computes blocks of queries, the last of a head first: under a causal rule they take longest.
func (r *attentionRun[F]) forwardTasks(lo, hi int) {
	w := r.forwardRoom()
	n := r.blocks()
	for task := lo; task < hi; task++ {
		head, i := task/n, n-1-task%n
		b, h, t0 := head/r.H, head%r.H, i*r.height()
		rows := min(r.height(), r.T-t0)
		r.forwardRows(w, r.spans[b*n+i], b, h, t0, rows)
	}
	poolOf[F](&forwardTilePools).Put(w)
}

// forwardRoom returns memory from the pool of tiles.
func (r *attentionRun[F]) forwardRoom() *forwardTiles[F] {
	w := poolOf[F](&forwardTilePools).Get().(*forwardTiles[F])
	x := &w.watched
	w.cut([]*[]F{&w.q, &w.p, &w.out, &w.top, &w.max, &w.sum, &w.peak, &w.first, &w.last, &w.logs,
		&w.part, &w.raw, &x.score, &x.product, &x.moment, &x.distance, &x.marks},
		r.D*queryBlock, keyBlock*queryBlock, queryBlock*r.DV,
		queryBlock, queryBlock, queryBlock, queryBlock, queryBlock, queryBlock, queryBlock, queryBlock,
		keyBlock*queryBlock, queryBlock, queryBlock, queryBlock, queryBlock, 3*queryBlock)
	return w
}

// sink returns what a row of a head begins with: a sink is like a key with this score and the value 0, of which there
// is one or none. What one of NaN or +∞ does is left to the end: it must not reach a row that sees nothing.
func (r *attentionRun[F]) sink(h int) (score, one F, bad bool) {
	if r.Sigmoid {
		return 0, 0, false // the sums are of weights that no maximum was taken from
	}
	if r.In.Sinks == nil || r.In.Sinks[h] == lowest[F]() {
		return lowest[F](), 0, false
	}
	if !isFinite(r.In.Sinks[h]) {
		return lowest[F](), 0, true
	}
	return r.In.Sinks[h], 1, false
}

// forwardRows computes the rows [t0,t0+rows) of one head, whose queries see keys inside s only.
func (r *attentionRun[F]) forwardRows(w *forwardTiles[F], s span, b, h, t0, rows int) {
	sink, one, bad := r.sink(h)
	for t := range rows {
		w.max[t], w.sum[t], w.peak[t] = sink, one, lowest[F]()
	}
	if r.watched() {
		w.watched.begin(rows)
	}
	clear(w.out[:rows*r.DV])
	r.look(&w.attentionTiles, b, t0, rows)
	if s.lo < s.hi && r.D > 0 {
		r.columns(&w.attentionTiles, rows, r.queryRows(b, h).from(t0), w.q, queryBlock)
	}
	for s0 := s.lo; s0 < s.hi; s0 += keyBlock {
		r.forwardTile(w, &s, b, h, t0, rows, s0, min(keyBlock, s.hi-s0))
	}
	if bad {
		spoil(w.sum[:rows])
	}
	r.finish(w, b, h, t0, rows, r.OutputAt.Row)
	if r.watched() {
		r.storeStatistics(w, (b*r.H+h)*r.T+t0, rows, sink)
	}
}

// numbersOf returns the RowNumbers of some rows.
func (r *attentionRun[F]) numbersOf(first, rows int) (lse, shift, factor []F) {
	n := r.B * r.H * r.T
	return r.LSE[first:][:rows], r.LSE[n+first:][:rows], r.LSE[2*n+first:][:rows]
}

// spoil makes NaN of the sums of rows that see something.
func spoil[F Float](sums []F) {
	for t, sum := range sums {
		if sum != 0 {
			sums[t] = F(math.NaN())
		}
	}
}

// finish divides the sums of a block by those of the weights, and writes them, step from one row to the next, and lse.
func (r *attentionRun[F]) finish(w *forwardTiles[F], b, h, t0, rows, step int) {
	sums, logs, factors, most, peak := w.sum[:rows], w.logs[:rows], w.first[:rows], w.max[:rows], w.peak[:rows]
	logarithms(logs, sums)
	first := (b*r.H+h)*r.T + t0
	lse, shift, factor := r.numbersOf(first, rows)
	for t, sum := range sums {
		if sum == 0 { // false for a NaN, which the maximum may have lost
			lse[t], shift[t], factor[t], factors[t] = lowest[F](), -lowest[F](), 0, 0
			continue
		}
		lse[t], shift[t], factors[t] = most[t]+logs[t], most[t], 1/sum
		if factor[t] = factors[t]; most[t]-peak[t]+logs[t] <= saturated {
			factor[t] = -factor[t]
		}
		if r.Sigmoid {
			factor[t] = 1
		}
	}
	at := r.OutputAt.at(b, h, t0)
	if r.Sigmoid {
		copyRows(r.Out[at:], step, w.out, r.DV, rows, r.DV)
		return
	}
	scaleRows(chosenPath, rows, r.DV, r.Out[at:], step, w.out, factors)
	for t, sum := range sums {
		if sum == 0 {
			copy(r.Out[at+t*step:][:r.DV], w.out[t*r.DV:]) // 0, or what weights of 0 made of a NaN or ∞
		}
	}
}

// forwardTile adds a block of keys to a block of queries.
func (r *attentionRun[F]) forwardTile(w *forwardTiles[F], s *span, b, h, t0, rows, s0, keys int) {
	t1, t2, all := w.seeing(s, rows, s0, s0+keys)
	if t1 >= t2 {
		return
	}
	// Whole vectors, though their outer queries may see nothing here.
	from, to := t1&^(vector-1), wholeVectors(t2)
	end := min(to, rows)
	all = all && from == t1 && end == t2
	n, p := end-from, w.p[from:]
	x := scores[F]{
		data: p, b: b, h: h, t0: t0 + from, queries: n, s0: s0, keys: keys, queryStep: 1, keyStep: queryBlock,
		hidden: !all, of: w.queries,
	}
	if r.watched() {
		x.watched = w
	}
	if !r.score(w, &x) {
		return
	}
	if r.Sigmoid {
		r.weighBySigmoid(w, &x)
	} else {
		r.weighBySoftmax(w, &x)
	}
	r.drop(&x)
	v := r.operand(&w.attentionTiles, &w.copies[1], r.valueRows(b, h/(r.H/r.K)), s0, keys, forms{along: true})
	r.sumKeys(&w.attentionTiles, &x, 1, v, 1, rowsOf[F]{w.out[from*r.DV:], r.DV, r.DV})
}

// score fills a tile of some of the block's queries with scores, −∞ where a key is not seen. It reports whether any
// query sees any of the keys.
func (r *attentionRun[F]) score(w *forwardTiles[F], x *scores[F]) bool {
	w.partly = x.hidden
	if !r.askShown(x, &w.attentionTiles) {
		return false
	}
	from := x.t0 - w.t0
	if w.partly {
		w.bound(x, w.first[from:], w.last[from:])
	}
	k := r.operand(&w.attentionTiles, &w.copies[0], r.keyRows(x.b, x.h/(r.H/r.K)), x.s0, x.keys, forms{across: true})
	r.product(x, k.across, w.q[from:], queryBlock, nil)
	r.hide(w, x)
	return true
}

// bound sets first and last to the keys of a tile, counted from its first, that Visible leaves to its queries.
func (w *attentionTiles[F]) bound(x *scores[F], first, last []F) {
	from := x.t0 - w.t0
	for i, lo := range w.lo[from:][:x.queries] {
		first[i], last[i] = F(min(max(lo-x.s0, 0), x.keys)), F(min(max(w.hi[from+i]-x.s0, 0), x.keys))
	}
}

// hide sets to −∞ the scores of the keys that a query of the tile does not see.
func (r *attentionRun[F]) hide(w *forwardTiles[F], x *scores[F]) {
	if from := x.t0 - w.t0; w.partly {
		hideColumns(chosenPath, x.keys, x.queries, x.data, queryBlock, w.first[from:], w.last[from:])
	}
	r.hideUnshown(x, &w.attentionTiles)
}

// sumOf returns x + y and what rounding takes from it (Knuth's TwoSum).
func sumOf[F Float](x, y F) (sum, lost F) {
	sum = x + y
	added := sum - x
	return sum, (x - (sum - added)) + (y - added)
}

// scaleInto writes f·x to y.
func scaleInto[F Float](y, x []F, f F) {
	x = x[:len(y)]
	for i, v := range x {
		y[i] = v * f
	}
}
