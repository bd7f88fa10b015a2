package kernel

import "attention/internal/parallel"

// Forward computes Out and LSE, without ever holding the (T,S) scores (FlashAttention: Dao et al. 2022, algorithm 1, in
// the order of loops of Dao 2023): each block of queries processes its keys tile by tile, with the running maximum and
// sum of every row. The lse of a query that sees nothing is −∞ and its factor 0, as is its output. With Stats it also
// computes statistics of the weights; Out and LSE have the same bits.
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
		parallel.For(n, r.grain(n, 2), r.chosen)
	default:
		n := r.B * r.H * r.blocks()
		parallel.For(n, r.grain(n, 2), r.forward)
	}
	if single { // also after statistics, for the same bits
		parallel.For(r.B*r.H, r.singleHeads(), r.singles)
	}
	r.end()
}

// forwardTiles is the memory for a block of queries.
type forwardTiles[F Float] struct {
	attentionTiles[F]
	q             []F  // (D,queryBlock): the queries as columns
	p             []F  // (keyBlock,queryBlock): scores and weights, one query in each column
	out           []F  // (queryBlock,DV): Σ exp(score−max)·v so far
	top, max, sum []F  // for each query: maximum of the tile, approximate maximum so far, Σ exp(score−max) so far
	peak          []F  // for each query: the largest score so far
	first, last   []F  // for each query: the rows of the tile that it sees; in the end, first is 1/sum
	partly        bool // whether a query of the tile does not see all keys that Visible allows

	watched watchedRows[F]
	logs    []F // of each query: log Σ exp(score−max)
	part    []F // of each query: Σ exp(score−max) of the tile
	raw     []F // (keyBlock,queryBlock): products before they are scaled or changed; then terms of sums
}

var forwardTilePools = newPools[forwardTiles[float32], forwardTiles[float64]]()

// forwardTasks computes blocks of queries, the last of a head first: because they take longest under a causal rule.
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

// forwardRows computes the rows [t0,t0+rows) of one head. Their queries see only keys inside s.
func (r *attentionRun[F]) forwardRows(w *forwardTiles[F], s span, b, h, t0, rows int) {
	bad := r.beginRows(h, w.max[:rows], w.sum, w.peak)
	if r.watched() {
		w.watched.begin(rows)
	}
	clear(w.out[:rows*r.DV])
	r.selectQueries(&w.attentionTiles, b, t0, rows)
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
		r.storeStatistics(w, b, h, t0, rows)
	}
}

// forwardTile adds a block of keys to a block of queries.
func (r *attentionRun[F]) forwardTile(w *forwardTiles[F], s *span, b, h, t0, rows, s0, keys int) {
	t1, t2, all := w.seeing(s, rows, s0, s0+keys)
	if t1 >= t2 {
		return
	}
	// Whole vectors, although their outer queries may see nothing here.
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
	if !r.readShown(x, &w.attentionTiles) {
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
