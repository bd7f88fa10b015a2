package kernel

import (
	"math"
	"slices"
)

// scores is a tile of scores of one head: query t0+i and key s0+j have data[i·queryStep+j·keyStep],
// where one of the steps is 1.
type scores[F Float] struct {
	data               []F
	b, h               int
	t0, queries        int
	s0, keys           int
	queryStep, keyStep int
	hidden             bool             // whether a query does not see a key
	of                 []int32          // the queries of which t0 counts, if they do not follow each other
	watched            *forwardTiles[F] // where the largest products are kept, if they are
}

// query returns the number of query t0+i.
func (x *scores[F]) query(i int) int {
	if x.of != nil {
		return int(x.of[x.t0+i])
	}
	return x.t0 + i
}

// lines returns the number of runs of n adjacent elements, and the step from one to the next.
func (x *scores[F]) lines() (count, n, step int) {
	if x.queryStep == 1 {
		return x.keys, x.queries, x.keyStep
	}
	return x.queries, x.keys, x.queryStep
}

// product computes the scores of a tile as A·B, caps and changes them and adds the bias. If they stay, the product is
// added to the bias. slope, unless it is nil, is a tile like x and receives the derivative of cap and change.
func (r *attentionRun[F]) product(x *scores[F], a rowsOf[F], b []F, bRow int, slope []F) {
	rows, n, step := x.lines()
	beta := F(0)
	fill := r.In.Bias != nil && r.Softcap == 0 && r.Score == nil && x.biased(&r.Attention).keys == x.keys
	if fill {
		if x.watched != nil {
			r.multiply(rows, n, r.D, F(r.Scale), a.data, a.row, b, bRow, 0, x.watched.raw, step)
			r.watchProducts(x.watched, x, x.watched.raw)
		}
		r.fillBias(x)
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
		capRows(chosenPath, rows, n, x.data, step, slope, F(r.Softcap))
	}
	if r.Score != nil {
		r.change(x, slope)
	}
	biased := x.biased(&r.Attention)
	if r.In.Bias != nil && !filled && biased.keys > 0 {
		for i := range x.queries {
			bias := r.In.Bias[r.biasAt(x, i):]
			for j := range biased.keys {
				x.data[i*x.queryStep+j*x.keyStep] += bias[j*r.BiasAt.Key]
			}
		}
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

// changesProducts reports whether scores are not just products.
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

// relativeAt returns where the relative bias of query t0+i and key s0 lies.
func (r *attentionRun[F]) relativeAt(x *scores[F], i int) int {
	return x.h*r.RelativeAt.Head + r.RelativeAt.Zero + x.query(i) - x.s0
}

// addRelative adds the relative bias to a tile.
func (r *attentionRun[F]) addRelative(x *scores[F]) {
	if x.queryStep == 1 && x.of == nil {
		at := r.relativeAt(x, 0)
		for j := range x.keys {
			line := x.data[j*x.keyStep:][:x.queries]
			for i, v := range r.In.Relative[at-j:][:len(line)] {
				line[i] += v
			}
		}
		return
	}
	for i := range x.queries {
		line, at := x.data[i*x.queryStep:], r.relativeAt(x, i)
		if x.keyStep > 1 {
			for j := range x.keys {
				line[j*x.keyStep] += r.In.Relative[at-j]
			}
			continue
		}
		line = line[:x.keys]
		for j := range line {
			line[j] += r.In.Relative[at-j]
		}
	}
}

// fillBias sets a tile to the bias.
func (r *attentionRun[F]) fillBias(x *scores[F]) {
	at := &r.BiasAt
	switch {
	case at.Key == 1 && x.queryStep == 1 && x.of == nil:
		transposePanel(chosenPath, x.keys, x.queries, r.In.Bias[r.biasAt(x, 0):], at.Query, x.data, x.keyStep)
	case at.Key == 1 && x.keyStep == 1:
		for i := range x.queries {
			copy(x.data[i*x.queryStep:][:x.keys], r.In.Bias[r.biasAt(x, i):])
		}
	default:
		for i := range x.queries {
			bias := r.In.Bias[r.biasAt(x, i):]
			for j := range x.keys {
				x.data[i*x.queryStep+j*x.keyStep] = bias[j*at.Key]
			}
		}
	}
}

// biasAt returns where the bias of query t0+i and key s0 lies.
func (r *attentionRun[F]) biasAt(x *scores[F], i int) int {
	at := &r.BiasAt
	return x.b*at.Batch + x.h*at.Head + x.query(i)*at.Query + x.s0*at.Key
}

// addBias adds the gradients of the scores, one query in each row, to the gradients of the biases.
func (r *attentionRun[F]) addBias(tile *scores[F]) {
	x := tile.biased(&r.Attention)
	if r.grad.Relative != nil {
		for i := range x.queries {
			at := r.relativeAt(&x, i)
			for j, v := range x.data[i*x.queryStep:][:x.keys] {
				r.relativeSums[at-j] += float64(v)
			}
		}
	}
	switch {
	case r.grad.Bias == nil || x.keys == 0:
	case r.sumsBias():
		addTo(r, r.biasSums, &x)
	default:
		addTo(r, r.grad.Bias, &x)
	}
}

// addTo adds the gradients of the scores to an array like the bias.
func addTo[F, G Float](r *attentionRun[F], sums []G, x *scores[F]) {
	for i := range x.queries {
		bias, line := sums[r.biasAt(x, i):], x.data[i*x.queryStep:][:x.keys]
		if r.BiasAt.Key == 1 {
			bias = bias[:len(line)]
			for j, v := range line {
				bias[j] += G(v)
			}
			continue
		}
		for j, v := range line {
			bias[j*r.BiasAt.Key] += G(v)
		}
	}
}

// sumsBias reports whether an element of the bias is of so many scores that its gradient is added up in float64.
func (r *attentionRun[F]) sumsBias() bool { return r.BiasAt.Query == 0 || r.BiasAt.Key == 0 }

// beginBias clears the sums of the gradients of the biases.
func (r *attentionRun[F]) beginBias() {
	r.relativeSums, r.biasSums = resize(r.relativeSums, len(r.grad.Relative)), r.biasSums[:0]
	clear(r.relativeSums)
	if r.grad.Bias == nil {
		return
	}
	if r.sumsBias() {
		r.biasSums = resize(r.biasSums, len(r.grad.Bias))
	}
	r.eachBias(func(i int) {
		r.grad.Bias[i] = 0
		if r.sumsBias() {
			r.biasSums[i] = 0
		}
	})
}

// endBias writes the gradients that were added up in float64.
func (r *attentionRun[F]) endBias() {
	for i, sum := range r.relativeSums {
		r.grad.Relative[i] = F(sum)
	}
	if len(r.biasSums) > 0 {
		r.eachBias(func(i int) { r.grad.Bias[i] = F(r.biasSums[i]) })
	}
}

// eachBias calls f with the place of every element of the bias, and of nothing between the elements.
func (r *attentionRun[F]) eachBias(f func(i int)) {
	once := func(n, step int) int {
		if step == 0 {
			return min(n, 1)
		}
		return n
	}
	at := &r.BiasAt
	for b := range once(r.B, at.Batch) {
		for h := range once(r.H, at.Head) {
			for t := range once(r.T, at.Query) {
				for s := range once(r.biased(), at.Key) {
					f(b*at.Batch + h*at.Head + t*at.Query + s*at.Key)
				}
			}
		}
	}
}

// drop drops from a tile the elements that Dropout would drop from the (B,H,T,S) weights.
func (r *attentionRun[F]) drop(x *scores[F]) {
	if r.Dropout.P == 0 {
		return
	}
	d := &r.Dropout
	seed := mix(mix(uint64(d.Key)) + uint64(d.Site)*golden)
	below, scale := uint64(d.P*math.Exp2(64)), F(1/(1-d.P))
	first := func(i int) uint64 { return seed + uint64(((x.b*r.H+x.h)*r.T+x.query(i))*r.S+x.s0)*golden }
	if x.of != nil {
		for i := range x.queries {
			dropRowsGo(x.keys, 1, x.data[i*x.queryStep:], x.keyStep, first(i), 0, golden, below, scale)
		}
		return
	}
	columnStep, rowStep := uint64(golden), uint64(r.S)*golden
	if x.queryStep == 1 {
		columnStep, rowStep = rowStep, columnStep
	}
	count, n, step := x.lines()
	dropRows(chosenPath, count, n, x.data, step, first(0), columnStep, rowStep, below, scale)
}

// shownTo returns the Shown that is for a tile.
func (r *attentionRun[F]) shownTo(x *scores[F]) ShownFunc {
	if x.of != nil {
		return r.Chosen.Shown
	}
	return r.Shown
}

// askShown asks Shown about a tile and reports whether any query sees any of the keys. It sets hidden if one does not.
func (r *attentionRun[F]) askShown(x *scores[F], w *attentionTiles[F]) (any bool) {
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

// hideUnshown sets to −∞ what Shown hides, by the answers that askShown got.
func (r *attentionRun[F]) hideUnshown(x *scores[F], w *attentionTiles[F]) {
	if r.shownTo(x) == nil {
		return
	}
	for i := range x.queries {
		if !w.holes[i] {
			continue
		}
		for j, s := range w.shown[i*keyBlock:][:x.keys] {
			if !s {
				x.data[i*x.queryStep+j*x.keyStep] = lowest[F]()
			}
		}
	}
}
