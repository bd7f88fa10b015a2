package graph_test

import "math"

// The formulas of the package once more, as plain loops.

// naiveMatMul is a·b for each pair of matrices, or one b for all.
func naiveMatMul(a, b array) array {
	x, w := a.matrices(), b.matrices()
	y := a.like(a.axis(-2), b.axis(-1))
	z := y.matrices()
	for n := range x.shape[0] {
		for i := range x.shape[1] {
			for j := range w.shape[2] {
				for k := range x.shape[2] {
					z.v[z.i(n, i, j)] += x.at(n, i, k) * w.at(n%w.shape[0], k, j)
				}
			}
		}
	}
	return y
}

// naiveTranspose swaps the last two axes.
func naiveTranspose(a array) array {
	x, y := a.matrices(), a.like(a.axis(-1), a.axis(-2))
	z := y.matrices()
	for n := range x.shape[0] {
		for i := range x.shape[1] {
			for j := range x.shape[2] {
				z.v[z.i(n, j, i)] = x.at(n, i, j)
			}
		}
	}
	return y
}

func naiveLinear(in []array) array {
	x, w := in[0].rows(), in[1]
	y := in[0].like(w.shape[0])
	z := y.rows()
	for r := range x.shape[0] {
		for o := range w.shape[0] {
			if len(in) > 2 {
				z.v[z.i(r, o)] = in[2].at(o)
			}
			for i := range w.shape[1] {
				z.v[z.i(r, o)] += x.at(r, i) * w.at(o, i)
			}
		}
	}
	return y
}

// naiveEach applies f to every element of x and the one that y has for it; y is
// repeated over the axes that it lacks.
func naiveEach(x, y array, f func(x, y float64) float64) array {
	z := x.like()
	for i, v := range x.v {
		z.v[i] = f(v, y.v[i%len(y.v)])
	}
	return z
}

// naiveSoftmax takes the exponentials as they are: for numbers of moderate size.
func naiveSoftmax(x array) array {
	return naiveNormalize(naiveEach(x, x, func(v, _ float64) float64 { return math.Exp(v) }))
}

func naiveMSE(x, y array) array {
	sum := 0.0
	for i, v := range x.v {
		sum += (v - y.v[i]) * (v - y.v[i])
	}
	return array{nil, []float64{sum / float64(len(x.v))}}
}

func naiveNormalize(x array) array {
	y := x.like()
	from, to := x.rows(), y.rows()
	for r := range from.shape[0] {
		var sum float64
		for c := range from.shape[1] {
			sum += from.at(r, c)
		}
		for c := range from.shape[1] {
			if sum != 0 {
				to.v[to.i(r, c)] = from.at(r, c) / sum
			}
		}
	}
	return y
}

// naiveTriangle puts hidden above the diagonal.
func naiveTriangle(x array, hidden float64) array {
	y := x.like()
	from, to := x.matrices(), y.matrices()
	for n := range from.shape[0] {
		for t := range from.shape[1] {
			for s := range from.shape[2] {
				to.v[to.i(n, t, s)] = from.at(n, t, s)
				if s > t {
					to.v[to.i(n, t, s)] = hidden
				}
			}
		}
	}
	return y
}

// naiveSplitHeads lays (…, T, H·D) out as (…, H, T, D).
func naiveSplitHeads(x array, heads int) array {
	t, d := x.axis(-2), x.axis(-1)/heads
	y := zeros(x.lead(2, heads, t, d)...)
	from, to := x.matrices(), y.flat(3)
	for n := range from.shape[0] {
		for ti := range t {
			for h := range heads {
				for i := range d {
					to.v[to.i(n, h, ti, i)] = from.at(n, ti, h*d+i)
				}
			}
		}
	}
	return y
}

// naiveRepeatHeads repeats every head of (…, K, S, D).
func naiveRepeatHeads(x array, times int) array {
	k, s, d := x.axis(-3), x.axis(-2), x.axis(-1)
	y := zeros(x.lead(3, k*times, s, d)...)
	from, to := x.flat(3), y.flat(3)
	for n := range from.shape[0] {
		for h := range k * times {
			for i := range s {
				for j := range d {
					to.v[to.i(n, h, i, j)] = from.at(n, h/times, i, j)
				}
			}
		}
	}
	return y
}

// naiveMergeHeads lays (…, H, T, D) out as (…, T, H·D).
func naiveMergeHeads(x array) array {
	h, t, d := x.axis(-3), x.axis(-2), x.axis(-1)
	y := zeros(x.lead(3, t, h*d)...)
	from, to := x.flat(3), y.matrices()
	for n := range from.shape[0] {
		for hi := range h {
			for ti := range t {
				for i := range d {
					to.v[to.i(n, ti, hi*d+i)] = from.at(n, hi, ti, i)
				}
			}
		}
	}
	return y
}

func naiveConcat(xs []array) array {
	width := 0
	for _, x := range xs {
		width += x.axis(-1)
	}
	y, at := xs[0].like(width), 0
	to := y.rows()
	for _, x := range xs {
		from := x.rows()
		for r := range from.shape[0] {
			for c := range from.shape[1] {
				to.v[to.i(r, at+c)] = from.at(r, c)
			}
		}
		at += x.axis(-1)
	}
	return y
}

func naiveEmbedding(weight, ids array) array {
	e := weight.shape[1]
	y := zeros(ids.lead(0, e)...)
	for i, id := range ids.v {
		for j := range e {
			y.v[i*e+j] = weight.at(int(id), j)
		}
	}
	return y
}

func naiveCrossEntropy(logits, targets array) array {
	p := naiveSoftmax(logits).rows()
	var sum, count float64
	for i, target := range targets.v {
		if target != -100 {
			sum -= math.Log(p.at(i, int(target)))
			count++
		}
	}
	return array{nil, []float64{sum / count}}
}

func naivePairwiseAdd(q, k array) array {
	a, t, s := q.axis(-1), q.axis(-2), k.axis(-2)
	y := zeros(q.lead(1, s, a)...)
	x, w, to := q.matrices(), k.matrices(), y.flat(3)
	for n := range x.shape[0] {
		for ti := range t {
			for si := range s {
				for i := range a {
					to.v[to.i(n, ti, si, i)] = x.at(n, ti, i) + w.at(n, si, i)
				}
			}
		}
	}
	return y
}

// naiveAdditive is one score at a time: v·tanh(q[t] + k[s]).
func naiveAdditive(q, k, v, value array) array {
	x, w := q.matrices(), k.matrices()
	scores := q.like(q.axis(-2), k.axis(-2))
	to := scores.matrices()
	for n := range x.shape[0] {
		for t := range x.shape[1] {
			for s := range w.shape[1] {
				for i := range x.shape[2] {
					to.v[to.i(n, t, s)] += v.v[i] * math.Tanh(x.at(n, t, i)+w.at(n, s, i))
				}
			}
		}
	}
	return naiveMatMul(naiveSoftmax(scores), value)
}

// naiveAttention is softmax(q·kᵀ·scale)·v, query by query, over the keys that
// sees(t, s) lets each query see.
func naiveAttention(q, k, v array, scale float64, sees func(t, s int) bool) (out, weights array) {
	qs, ks := q.matrices(), k.matrices()
	weights = q.like(q.axis(-2), k.axis(-2))
	w := weights.matrices()
	for n := range qs.shape[0] {
		for t := range qs.shape[1] {
			var sum float64
			for s := range ks.shape[1] {
				if !sees(t, s) {
					continue
				}
				var score float64
				for i := range qs.shape[2] {
					score += qs.at(n, t, i) * ks.at(n, s, i)
				}
				w.v[w.i(n, t, s)] = math.Exp(score * scale)
				sum += w.at(n, t, s)
			}
			for s := range ks.shape[1] {
				w.v[w.i(n, t, s)] /= sum
			}
		}
	}
	return naiveMatMul(weights, v), weights
}

func all(int, int) bool         { return true }
func causal(t, s int) bool      { return s <= t }
func rootScale(q array) float64 { return 1 / math.Sqrt(float64(q.axis(-1))) }
