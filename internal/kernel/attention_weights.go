package kernel

// weightTiles is the memory for a tile of weights.
type weightTiles[F Float] struct {
	forwardTiles[F]
	rows int // queries of the block
	// Of each query.
	shift, factor []F
}

var weightTilePools = newPools[weightTiles[float32], weightTiles[float64]]()

// overWeights calls task for the tasks [0,n), each worker with tiles of its own.
func overWeights[F Float](a *Attention, lse []F, in QKV[F], n int,
	task func(r *attentionRun[F], w *weightTiles[F], task int)) {
	in.V = nil
	runs, tiles := poolOf[F](&attentionRuns), poolOf[F](&weightTilePools)
	r := runs.Get().(*attentionRun[F])
	r.begin(a, in, nil, lse)
	Parallel(n, r.grain(n, 1), func(lo, hi int) {
		w := tiles.Get().(*weightTiles[F])
		w.cut([]*[]F{&w.q, &w.p, &w.top, &w.sum, &w.first, &w.last, &w.shift, &w.factor},
			r.D*queryBlock, keyBlock*queryBlock, queryBlock, queryBlock, queryBlock, queryBlock, queryBlock, queryBlock)
		for i := lo; i < hi; i++ {
			task(r, w, i)
		}
		tiles.Put(w)
	})
	r.end()
	runs.Put(r)
}

// block makes the tiles ready for the queries [t0,t0+rows) of a head and returns which keys these see.
func (r *attentionRun[F]) block(w *weightTiles[F], b, h, t0, rows int) span {
	w.rows = rows
	r.look(&w.attentionTiles, b, t0, rows)
	if r.D > 0 {
		r.columns(&w.attentionTiles, rows, r.queryRows(b, h).from(t0), w.q, queryBlock)
	}
	_, shift, factor := r.numbersOf((b*r.H+h)*r.T+t0, rows)
	copy(w.shift, shift)
	for t, f := range factor {
		w.factor[t] = max(f, -f)
	}
	return r.spanOf(b, t0, t0+rows)
}

// scoreTile fills the tile with the scores of the whole block, as score does.
func (r *attentionRun[F]) scoreTile(w *weightTiles[F], s *span, b, h, s0, keys int) bool {
	t1, t2, all := w.seeing(s, w.rows, s0, s0+keys)
	if t1 >= t2 {
		return false
	}
	return r.score(&w.forwardTiles, &scores[F]{
		data: w.p, b: b, h: h, t0: w.t0, queries: w.rows, s0: s0, keys: keys, queryStep: 1, keyStep: queryBlock,
		hidden: !all || t1 > 0 || t2 < w.rows,
	})
}

// atLeast makes sure that a slice has room for the given axes.
func atLeast(name string, length int, axes ...int) {
	n := 1
	for _, axis := range axes {
		n *= axis
	}
	if length < n {
		panic("kernel: attention: " + name + ": slice is too short")
	}
}
