package kernel

// What follows goes over the scores a second time, with the numbers of the rows of AttentionForward. The weights before
// dropout are factor·exp(score − shift), or sigmoid(score), tile by tile; values are not read.

// AttentionReceived writes what each key receives, (B,H,S): the sum of its weights over the queries.
func AttentionReceived[F Float](a *Attention, received, lse []F, in QKV[F]) {
	compiledFor[F]().attentionReceived(*a, received, lse, in)
}

func (compiledHere[F]) attentionReceived(c Attention, received, lse []F, in QKV[F]) {
	a := &c
	checkScores(a, lse, &in)
	atLeast("received", len(received), a.B, a.H, a.S)
	blocks := (a.S + keyBlock - 1) / keyBlock
	overWeights(a, lse, in, a.B*a.H*blocks, func(r *attentionRun[F], w *weightTiles[F], task int) {
		b, h, s0 := task/blocks/a.H, task/blocks%a.H, task%blocks*keyBlock
		sums := received[(b*a.H+h)*a.S+s0:][:min(keyBlock, a.S-s0)]
		clear(sums)
		for t0 := 0; t0 < a.T; t0 += queryBlock {
			s := r.block(w, b, h, t0, min(queryBlock, a.T-t0))
			if s.lo >= s0+len(sums) || s.hi <= s0 || !r.weigh(w, &s, b, h, s0, len(sums)) {
				continue
			}
			part := w.part[:len(sums)]
			dot(chosenPath, w.p, queryBlock, w.factor[:w.rows], part)
			for j, v := range part {
				sums[j] += v
			}
		}
	})
}

// AttentionRows writes the weights of the given queries, (B,H,len(rows),S).
func AttentionRows[F Float](a *Attention, weights []F, rows []int, lse []F, in QKV[F]) {
	compiledFor[F]().attentionRows(*a, weights, rows, lse, in)
}

func (compiledHere[F]) attentionRows(c Attention, weights []F, rows []int, lse []F, in QKV[F]) {
	a := &c
	checkScores(a, lse, &in)
	atLeast("weights", len(weights), a.B, a.H, len(rows), a.S)
	for _, t := range rows {
		if t < 0 || t >= a.T {
			panic("kernel: attention: rows: outside the queries")
		}
	}
	overWeights(a, lse, in, a.B*a.H*len(rows), func(r *attentionRun[F], w *weightTiles[F], task int) {
		b, h, t := task/len(rows)/a.H, task/len(rows)%a.H, rows[task%len(rows)]
		row := weights[task*a.S:][:a.S]
		clear(row)
		s := r.block(w, b, h, t, 1)
		for s0 := s.lo; s0 < s.hi; s0 += keyBlock {
			keys := min(keyBlock, s.hi-s0)
			if !r.weigh(w, &s, b, h, s0, keys) {
				continue
			}
			for j := range keys {
				row[s0+j] = w.p[j*queryBlock] * w.factor[0]
			}
		}
	})
}

// weightTiles is the memory for a tile of weights.
type weightTiles[F Float] struct {
	forwardTiles[F]
	rows int // queries of the block
	// Of each query.
	shift, factor []F
	part          []F // a number for each key
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
		w.cut([]*[]F{&w.q, &w.p, &w.top, &w.sum, &w.first, &w.last, &w.shift, &w.factor, &w.part},
			r.D*queryBlock, keyBlock*queryBlock, queryBlock, queryBlock, queryBlock, queryBlock, queryBlock, queryBlock,
			keyBlock)
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

// weigh fills the tile of a block of queries and the keys [s0,s0+keys) with weights, which are yet to be multiplied
// by the factors. It reports whether any query sees any of the keys.
func (r *attentionRun[F]) weigh(w *weightTiles[F], s *span, b, h, s0, keys int) bool {
	if !r.scoreTile(w, s, b, h, s0, keys) {
		return false
	}
	r.weightColumns(keys, w.rows, w.p, w.shift, w.sum)
	return true
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
