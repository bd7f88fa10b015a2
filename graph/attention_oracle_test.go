package graph_test

import (
	"math"
	"slices"

	"gorgonia.org/tensor"
)

// sizes are those of scores (batch…, H, T, S), of which H may have no axis.
type sizes struct {
	batch   []int
	heads   bool // whether the heads have an axis
	H, T, S int
}

// B is the number of batches.
func (z sizes) B() int { return tensor.Shape(z.batch).TotalSize() }

// shape is that of the scores, with more keys.
func (z sizes) shape(extra int) []int {
	s := append([]int{}, z.batch...)
	if z.heads {
		s = append(s, z.H)
	}
	return append(s, z.T, z.S+extra)
}

// of is the element of an array that broadcasts to the scores: axes are matched from
// the last, and one of length 1 has the same for all.
func (z sizes) of(a array, b, h, t, s int) float64 {
	at, step, own := 0, 1, 2 // own: axes that are no batch's
	if z.heads {
		own = 3
	}
	for axis := range a.shape {
		fromEnd := axis + 1
		d, i := a.axis(-fromEnd), 0
		switch {
		case fromEnd == 1:
			i = s
		case fromEnd == 2:
			i = t
		case fromEnd == 3 && z.heads:
			i = h
		default:
			n := z.batch[len(z.batch)-(fromEnd-own)]
			i, b = b%n, b/n
		}
		if d > 1 {
			at += i * step
		}
		step *= d
	}
	return a.v[at]
}

// naive is attention by its definition, query by query. keep is what the dropout
// multiplies the weights by. blind are the rows (b, h, t) that see no key.
func (a drawnAttention) naive(keep array) (out, weights array, blind []bool) {
	z, q, k, v := a.z, a.q, a.k, a.v
	if a.c.Heads > 0 {
		group := a.c.Heads / a.keyHeads()
		q, k = naiveSplitHeads(q, a.c.Heads), naiveRepeatHeads(naiveSplitHeads(k, a.keyHeads()), group)
		v = naiveRepeatHeads(naiveSplitHeads(v, a.keyHeads()), group)
	}
	out, weights = q.like(v.axis(-1)), zeros(z.shape(a.c.ExtraKeys)...)
	q, k, v = q.matrices(), k.matrices(), v.matrices()
	to, w := out.matrices(), weights.matrices()
	for row := range len(w.v) / w.shape[2] {
		n, b, h, t := row/z.T, row/z.T/z.H, row/z.T%z.H, row%z.T
		scores := make([]float64, w.shape[2])
		for s := range scores {
			scores[s] = a.score(q, k, b, h, t, s)
		}
		most, sink := slices.Max(scores), a.sinks.or(math.Inf(-1), h)
		blind = append(blind, math.IsInf(most, -1))
		if blind[row] {
			continue
		}
		top := max(most, sink)
		sum := math.Exp(sink - top)
		for _, score := range scores {
			sum += math.Exp(score - top)
		}
		for s, score := range scores {
			w.v[w.i(n, t, s)] = math.Exp(score-top) / sum * keep.v[w.i(n, t, s)]
			for i := range to.shape[2] {
				to.v[to.i(n, t, i)] += w.at(n, t, s) * v.at(n, s, i)
			}
		}
	}
	if a.c.Heads > 0 {
		out = naiveMergeHeads(out)
	}
	return out, weights, blind
}

// score is one score: −∞ for a hidden key.
func (a drawnAttention) score(q, k array, b, h, t, s int) float64 {
	z, x := a.z, 0.0
	if s < z.S && a.mask != nil && !a.mask.sees(z, b, h, t, s) {
		return math.Inf(-1)
	}
	for i := range q.shape[2] {
		x += q.at(b*z.H+h, t, i) * k.at(b*z.H+h, s, i)
	}
	x *= a.scale()
	if c := a.c.Softcap; c > 0 {
		x = c * math.Tanh(x/c)
	}
	if s >= z.S { // an extra key
		return x
	}
	if a.bias.name != "" {
		x += z.of(a.bias.sum, b, h, t, s)
	}
	if r := a.relative.sum; a.relative.name != "" {
		x += r.at(h%r.shape[0], t-s+z.S-1)
	}
	return x
}
