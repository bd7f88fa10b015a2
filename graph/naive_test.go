package graph_test

import (
	"math"
)

// naiveEach applies f to every element of x and the one that y has for it; y is
// repeated over the axes that it lacks.
func naiveEach(x, y array, f func(x, y float64) float64) array {
	z := x.like()
	for i, v := range x.v {
		z.v[i] = f(v, y.v[i%len(y.v)])
	}
	return z
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

func all(int, int) bool { return true }

func causal(t, s int) bool { return s <= t }

func rootScale(q array) float64 { return 1 / math.Sqrt(float64(q.axis(-1))) }
