package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// A token that follows others has one query in each head, and takes as long as reading keys and values. The heads of a
// group share these: all heads process one tile of keys before the next is loaded, each with its scores in one row. The
// first head prefetches the next tile meanwhile.

const (
	singleKeys  = 64      // of a tile: with their values they fill a first-level cache
	singleAhead = 8       // rows that are prefetched together
	singleGrain = 1 << 15 // multiply-adds that justify a goroutine, since each reads its number from memory
)

// isSingle reports whether each head has one query and reads its keys without a copy.
func (r *attentionRun[F]) isSingle() bool {
	return r.T == 1 && r.Precision == Full && r.Chosen == nil && min(r.B, r.H, r.D, r.DV) > 0
}

// singleHeads returns the least number of heads for a goroutine: whole groups, if there are enough of them.
func (r *attentionRun[F]) singleHeads() int {
	parts := (parallel.Cores() + r.B*r.K - 1) / (r.B * r.K)
	heads := (r.H/r.K + parts - 1) / parts
	least := 1 + singleGrain/(1+r.S*(r.D+r.DV))
	return (least + heads - 1) / heads * heads
}

// forwardSingles computes the heads [lo,hi) of all sequences.
func (r *attentionRun[F]) forwardSingles(lo, hi int) {
	w := r.forwardRoom()
	for group := r.H / r.K; lo < hi; {
		b, h := lo/r.H, lo%r.H
		end := min(h+hi-lo, r.H)
		n := min(end-h, group-h%group, queryBlock)
		r.forwardGroup(w, b, h, n, h+n < end)
		lo += n
	}
	poolOf[F](&forwardTilePools).Put(w)
}

// forwardGroup computes heads h … h+n−1 of a sequence, which share keys. follows reports whether head h+n is next.
func (r *attentionRun[F]) forwardGroup(w *forwardTiles[F], b, h, n int, follows bool) {
	each, s := r.H/r.K, r.spans[b]
	keys, values, next := r.keyRows(b, h/each), r.valueRows(b, h/each), r.keyRows(b, (h+n)/each)
	r.selectQueries(&w.attentionTiles, b, 0, 1)
	clear(w.out[:n*r.DV])
	for i := range n {
		r.beginRows(h+i, w.max[i:i+1], w.sum[i:], w.peak[i:])
		query := r.queryRows(b, h+i).from(0)
		copy(w.q[i*r.D:][:r.D], query.at(0))
		clear(w.raw[i*2*singleKeys:][:2*singleKeys])
	}
	for s0 := s.lo; s0 < s.hi; s0 += singleKeys {
		x := scores[F]{
			data: w.p, b: b, queries: 1, s0: s0, keys: min(singleKeys, s.hi-s0), queryStep: singleKeys, keyStep: 1,
		}
		k, v, ahead := keys.from(s0), values.from(s0), rowsAhead[F]{}
		switch s1 := s0 + singleKeys; {
		case s1 < s.hi:
			ahead = rowsAhead[F]{keys.from(s1), min(singleKeys, s.hi-s1)}
		case follows:
			ahead = rowsAhead[F]{next.from(s.lo), min(singleKeys, s.hi-s.lo)}
		}
		for i := range n {
			x.h, x.hidden = h+i, false
			r.forwardSingle(w, &x, i, k, v, ahead)
		}
	}
	for i := range n {
		w.sum[i] += F(simd.Sum(w.sumsOfKeys(i)))
		if _, _, bad := r.sink(h + i); bad {
			spoil(w.sum[i : i+1])
		}
	}
	r.finish(w, b, h, 0, n, r.OutputAt.Head)
}

// rowsAhead describes rows that are read soon.
type rowsAhead[F Float] struct {
	rowsOf[F]
	n int
}

// prefetch prefetches rows i to i+n−1.
func (x *rowsAhead[F]) prefetch(i, n int) {
	if n = min(n, x.n-i); n > 0 {
		simd.Prefetch(n, x.width, x.data[i*x.row:], x.row)
	}
}

// shifts returns the numbers that are subtracted from the scores of head i of a group, one for each column of a tile;
// sumsOfKeys returns the running sums of its weights.
func (w *forwardTiles[F]) shifts(i int) []F { return w.raw[i*2*singleKeys:][:singleKeys] }

func (w *forwardTiles[F]) sumsOfKeys(i int) []F { return w.raw[(i*2+1)*singleKeys:][:singleKeys] }

// forwardSingle adds a tile of keys to head i of a group.
func (r *attentionRun[F]) forwardSingle(w *forwardTiles[F], x *scores[F], i int, k, v rowsOf[F], ahead rowsAhead[F]) {
	if !r.readShown(x, &w.attentionTiles) {
		return
	}
	step, p, out := x.keys, x.data[:x.keys], w.out[i*r.DV:][:r.DV]
	values := rowsAhead[F]{}
	if i == 0 {
		step, values = singleAhead, rowsAhead[F]{v, x.keys}
	}
	for j := 0; j < x.keys; j += step {
		n := min(step, x.keys-j)
		values.prefetch(j, n)
		simd.RowDots(r.D, k.data[j*k.row:], k.row, w.q[i*r.D:], 0, p[j:][:n])
	}
	simd.Scale(p, p, F(r.Scale))
	r.alter(x, nil, false)
	r.setUnshown(&w.attentionTiles, x, x.data, simd.NegInf[F]())
	r.weighSingle(w, x, i)
	r.drop(x)
	if x.hidden {
		r.sumKeys(&w.attentionTiles, x, 1, asTheyAre(v), 1, rowsOf[F]{out, r.DV, r.DV})
		return
	}
	for j := 0; j < x.keys; j += step {
		n := min(step, x.keys-j)
		if i == 0 {
			ahead.prefetch(j, n)
		}
		simd.Weigh(1, v.data[j*v.row:], v.row, p[j:][:n], out)
	}
}

// weighSingle turns a tile of scores of head i of a group into weights, and adds these to its sums.
func (r *attentionRun[F]) weighSingle(w *forwardTiles[F], x *scores[F], i int) {
	p, shifts, sums := x.data[:x.keys], w.shifts(i), w.sumsOfKeys(i)
	if r.Sigmoid {
		simd.Sigmoid(p, p)
		simd.AddRows(1, x.keys, sums, sums, p)
		return
	}
	simd.TopRows(1, x.keys, w.top[i:], p)
	if !(w.top[i] <= w.max[i]) { // the sums so far may decrease
		w.sum[i] += F(simd.Sum(sums))
		clear(sums)
	}
	w.raise(i, i+1, r.DV, false)
	if shift := w.top[i]; shift != shifts[0] {
		for j := range shifts {
			shifts[j] = shift
		}
	}
	for j := x.keys; j < wholeVectors(x.keys); j++ {
		x.data[j] = simd.NegInf[F]() // adds 0 to the elements behind the sums
	}
	simd.ExpColumns(1, x.keys, x.data, singleKeys, shifts, sums)
}
