package kernel

// loadKeys packs the keys and values s0 … s0+n−1 for the products of tiles, and selects the sums of their gradients.
func (r *attentionRun[F]) loadKeys(w *backwardTiles[F], b, group, s0, n int) {
	w.b, w.group, w.s0, w.keys, w.fresh = b, group, s0, n, true
	w.sumK = r.sumsOfKeys(w, r.grad.K, &r.KeyAt, w.dk, r.D)
	w.sumV = r.sumsOfKeys(w, r.grad.V, &r.ValueAt, w.dv, r.DV)
	if r.D > 0 {
		w.keyRows = asTheyAre(r.keyRows(b, group).from(w.s0))
		if r.Precision == BFloat16 {
			w.keyRows = w.paired(w.keyRows.rowsOf, w.keys, w.copied, forms{along: true})
		} else if r.copies(&r.KeyAt, r.S, r.D) {
			copyRows(w.copied, r.D, w.keyRows.data, w.keyRows.row, w.keys, r.D)
			w.keyRows = asTheyAre(rowsOf[F]{w.copied, r.D, r.D})
		}
		r.columns(w.attentionTiles, w.keys, w.keyRows.rowsOf, w.k, keyBlock)
	}
	if r.DV > 0 {
		r.columns(w.attentionTiles, w.keys, r.valueRows(b, group).from(w.s0), w.v, keyBlock)
	}
}

// sumsOfKeys returns the rows in which a gradient of the block's keys is summed: separate memory, or the gradient
// itself.
func (r *attentionRun[F]) sumsOfKeys(w *backwardTiles[F], grad []F, at *HeadLayout, room []F, width int) rowsOf[F] {
	switch {
	case grad == nil:
		return rowsOf[F]{}
	case r.sumsInPlace():
		return rowsOf[F]{grad[at.at(w.b, w.group, w.s0):], at.Row, width}
	}
	return rowsOf[F]{room, width, width}
}

// sumsInPlace reports whether only few tiles add to the gradients of a key: then the gradient itself holds the sums.
func (r *attentionRun[F]) sumsInPlace() bool { return r.T <= 2*lowBlock && r.Chosen == nil }

// beginSums returns the β for adding to the sums of the keys [s1,s2) of the block: 0 for the first tile, then 1. For
// the first tile it also clears the sums of the other keys.
func (w *backwardTiles[F]) beginSums(s1, s2 int) (beta F) {
	if !w.fresh {
		return 1
	}
	w.fresh = false
	for _, sums := range [2]*rowsOf[F]{&w.sumK, &w.sumV} {
		for i := 0; i < w.keys && sums.data != nil; i++ {
			if i < s1 || i >= s2 {
				clear(sums.at(i))
			}
		}
	}
	return 0
}

// storeKeys writes the gradients of a block of keys and its values.
func (r *attentionRun[F]) storeKeys(w *backwardTiles[F]) {
	w.beginSums(0, 0) // of keys that no query sees
	if r.sumsInPlace() {
		return
	}
	if r.grad.K != nil {
		copyRows(r.grad.K[r.KeyAt.at(w.b, w.group, w.s0):], r.KeyAt.Row, w.dk, r.D, w.keys, r.D)
	}
	if r.grad.V != nil {
		copyRows(r.grad.V[r.ValueAt.at(w.b, w.group, w.s0):], r.ValueAt.Row, w.dv, r.DV, w.keys, r.DV)
	}
}
