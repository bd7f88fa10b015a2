package graph_test

import "math"

// largestTerms returns the largest of the terms whose sums are the output and the gradients, by name. kept holds the
// dropout's factors of the weights.
func (a drawnAttention) largestTerms(kept, dout array) map[string]float64 {
	ones := kept.like()
	for i := range ones.v {
		ones.v[i] = 1
	}
	_, weights, _ := a.naive(ones)
	x := termsOf{drawnAttention: a, p: weights.matrices(), z: kept.matrices(), most: map[string]float64{}}
	x.q, x.k = a.products()
	x.values, x.dout = a.v, dout
	if a.c.Heads > 0 {
		x.values = naiveRepeatHeads(naiveSplitHeads(a.v, a.keyHeads()), a.c.Heads/a.keyHeads())
		x.dout = naiveSplitHeads(dout, a.c.Heads)
	}
	x.values, x.dout = x.values.matrices(), x.dout.matrices()
	for n := range x.p.shape[0] {
		for t := range x.p.shape[1] {
			x.addRow(n, t)
		}
	}
	return x.most
}

type termsOf struct {
	drawnAttention
	p, z               array // weights before dropout, and the dropout's factors
	q, k, values, dout array
	most               map[string]float64
}

func (x *termsOf) take(name string, term float64) { x.most[name] = max(x.most[name], math.Abs(term)) }

// addRow adds the terms of query t of matrix n. The gradient of a score is a difference. If one key has nearly all of
// the weight because its score is large, the term is this difference plus a small part of its operands, which the
// rounding of Σ weight·dP may change. Otherwise the term is the larger operand.
func (x *termsOf) addRow(n, t int) {
	b, h := n/x.drawnAttention.z.H, n%x.drawnAttention.z.H
	S := x.p.shape[2]
	delta, left, top, large := 0., 1., 0., false
	dp := make([]float64, S)
	for s := range S {
		p := x.p.at(n, t, s)
		dp[s] = dotOf(x.dout, n, t, x.values, n, s) * x.z.at(n, t, s)
		delta += p * dp[s]
		left -= p
		if top = max(top, p); top == p {
			large = math.Abs(x.score(x.q, x.k, b, h, t, s)) > 17
		}
	}
	x.take("sinks", max(left, 0)*delta)
	for s := range S {
		p := x.p.at(n, t, s)
		if p == 0 {
			continue
		}
		w := p * x.z.at(n, t, s)
		for i := range x.values.shape[2] {
			x.take("out", w*x.values.at(n, s, i))
			x.take("v", w*x.dout.at(n, t, i))
		}
		dx := p * (math.Abs(dp[s]-delta) + math.Abs(dp[s])/64)
		if !large || top < 0.9 {
			dx = p * math.Abs(dp[s])
		}
		x.take("bias", dx)
		x.take("relative bias", dx)
		x.take("log gates", dx)
		_, slope := x.scoreOf(dotOf(x.q, n, t, x.k, n, s), b, h, t, s)
		for i := range x.q.shape[2] {
			x.take("q", dx*slope*x.scale()*x.k.at(n, s, i))
			x.take("k", dx*slope*x.scale()*x.q.at(n, t, i))
		}
	}
}
