package kernel

import (
	"slices"

	"attention/internal/simd"
)

// ShownFunc sets shown[i] to whether query t of head h of batch b sees key s0+i, for all elements of shown, and returns
// true. It may instead leave shown unchanged and return false: then the query sees all keys that Visible allows.
// Several goroutines call it.
type ShownFunc func(b, h, t, s0 int, shown []bool) bool

// shownTo returns the Shown that applies to a tile.
func (r *attentionRun[F]) shownTo(x *scores[F]) ShownFunc {
	if x.of != nil {
		return r.Chosen.Shown
	}
	return r.Shown
}

// readShown calls Shown for a tile and reports whether any query sees any of the keys. It sets hidden if any query does
// not see a key.
func (r *attentionRun[F]) readShown(x *scores[F], w *attentionTiles[F]) (any bool) {
	shown := r.shownTo(x)
	if shown == nil {
		return true
	}
	for i := range x.queries {
		line := w.shown[i*keyBlock:][:x.keys]
		w.holes[i] = shown(x.b, x.h, x.query(i), x.s0, line)
		any = any || !w.holes[i] || slices.Contains(line, true)
		x.hidden = x.hidden || w.holes[i]
	}
	return any
}

// bound sets first and last to the keys that Visible allows the queries of a tile, counted from the tile's first key.
func (w *attentionTiles[F]) bound(x *scores[F], first, last []F) {
	from := x.t0 - w.t0
	for i, lo := range w.lo[from:][:x.queries] {
		first[i], last[i] = F(min(max(lo-x.s0, 0), x.keys)), F(min(max(w.hi[from+i]-x.s0, 0), x.keys))
	}
}

// hide sets to −∞ the scores of the keys that a query of the tile does not see.
func (r *attentionRun[F]) hide(w *forwardTiles[F], x *scores[F]) {
	if from := x.t0 - w.t0; w.partly {
		simd.HideColumns(x.keys, x.queries, x.data, queryBlock, w.first[from:], w.last[from:])
	}
	r.setUnshown(&w.attentionTiles, x, x.data, simd.NegInf[F]())
}

// setUnshown sets the elements of a tile whose keys Shown hides to a number, using the results of readShown.
func (r *attentionRun[F]) setUnshown(w *attentionTiles[F], x *scores[F], data []F, to F) {
	if r.shownTo(x) == nil {
		return
	}
	for i := range x.queries {
		if !w.holes[i] {
			continue
		}
		line := data[i*x.queryStep:]
		for j, shown := range w.shown[i*keyBlock:][:x.keys] {
			if !shown {
				line[j*x.keyStep] = to
			}
		}
	}
}

// clearHidden sets the elements of hidden pairs in the data of a tile to 0. bound must have been called for the tile.
func (r *attentionRun[F]) clearHidden(w *backwardTiles[F], x *scores[F], data []F) {
	if !x.hidden {
		return
	}
	if w.columns[1] == 0 { // new
		for j := range w.columns {
			w.columns[j] = F(j)
		}
	}
	simd.ClearRows(x.queries, x.keys, data, x.queryStep, w.columns[:], w.first, w.last)
	r.setUnshown(w.attentionTiles, x, data, 0)
}

// sees reports whether query t0+i of a tile sees key s0+j.
func (r *attentionRun[F]) sees(w *attentionTiles[F], x *scores[F], i, j int) bool {
	t, s := x.t0-w.t0+i, x.s0+j
	return w.lo[t] <= s && s < w.hi[t] && (r.shownTo(x) == nil || !w.holes[i] || w.shown[i*keyBlock+j])
}

// seesAny reports whether query t sees any key.
func (r *attentionRun[F]) seesAny(b, h, t int) bool {
	lo, hi := r.lo[b*r.T+t], r.hi[b*r.T+t]
	if lo >= hi || r.Shown == nil {
		return lo < hi
	}
	shown := make([]bool, hi-lo)
	return !r.Shown(b, h, t, lo, shown) || slices.Contains(shown, true)
}
