package kernel

import "math"

// naive is an attention that stores every (B,H,T,S) intermediate, in float64, with the formulas written out. Every
// result has a companion: the same sum over absolute values, to which rounding errors are proportional. The companions
// that end in R bound the effect of bfloat16 roundings on a result, in units of halfBF16.
//
// No other goroutine runs during this reference and others, so go:norace makes them fast under the race detector.
type naive struct {
	a              *Attention
	q, k, v, bias  []float64 // dense (B,H,T,D), (B,K,S,D), (B,K,S,DV), (B,H,T,S)
	p, z, slope    []float64 // (B,H,T,S): weights before dropout, factors of dropout, derivative of softcap and Score
	steep          []float64 // (B,H,T,S): size of Score's derivative, at least 1
	out, lse       []float64
	outAbs         []float64 // also outR
	scoreAbs       float64   // greatest Σ|q·k| and |bias|
	dq, dk, dv, db []float64
	dqA, dkA, dvA  []float64 // dvA also is dvR
	dqR, dkR       []float64
	dbA, dbR       []float64
	sinks, ds, dsA []float64 // (H)
	dsR            []float64
}

// halfBF16 is the largest relative error of a rounding to bfloat16, whose numbers have 8 digits.
const halfBF16 = 0x1p-8

// dense gathers rows that lie in a layout.
func dense[F Float](x []F, b, heads, rows, width int, at HeadLayout) []float64 {
	var y []float64
	for i := range b {
		for h := range heads {
			for t := range rows {
				for d := range width {
					y = append(y, float64(x[at.at(i, h, t)+d]))
				}
			}
		}
	}
	return y
}

// denseBias is the sum of both biases and of the log-gates' part.
//
//go:norace
func denseBias[F Float](a *Attention, in QKV[F]) []float64 {
	y := make([]float64, a.B*a.H*a.T*a.S)
	for i := range y {
		if in.Bias != nil && isBiased(a, i) {
			y[i] += float64(in.Bias[biasIndex(a, i)])
		}
		if in.Relative != nil && isBiased(a, i) {
			y[i] += float64(in.Relative[relativeIndex(a, i)])
		}
		if in.Forget.Key != nil && isBiased(a, i) {
			y[i] += in.Forget.At(a, i/a.S, i%a.S)
		}
	}
	return y
}

// isBiased reports whether element i of (B,H,T,S) has a bias.
func isBiased(a *Attention, i int) bool { return i%a.S < a.S-a.Unbiased }

// biasIndex returns the index of the bias of element i of (B,H,T,S).
func biasIndex(a *Attention, i int) int {
	s, t, h, b := i%a.S, i/a.S%a.T, i/a.S/a.T%a.H, i/a.S/a.T/a.H
	return b*a.BiasAt.Batch + h*a.BiasAt.Head + t*a.BiasAt.Query + s*a.BiasAt.Key
}

func relativeIndex(a *Attention, i int) int {
	s, t, h := i%a.S, i/a.S%a.T, i/a.S/a.T%a.H
	return h*a.RelativeAt.Head + t - s + a.RelativeAt.Zero
}

//go:norace
func dotAbs(x, y []float64) (sum, abs float64) {
	for i, v := range x {
		sum += v * y[i]
		abs += math.Abs(v * y[i])
	}
	return sum, abs
}

func newNaive[F Float](a *Attention, in QKV[F]) *naive {
	n := &naive{a: a,
		q:    dense(in.Q, a.B, a.H, a.T, a.D, a.QueryAt),
		k:    dense(in.K, a.B, a.K, a.S, a.D, a.KeyAt),
		v:    dense(in.V, a.B, a.K, a.S, a.DV, a.ValueAt),
		bias: denseBias(a, in),
	}
	for _, v := range in.Sinks {
		n.sinks = append(n.sinks, float64(v))
	}
	size := a.B * a.H * a.T * a.S
	n.p, n.slope, n.z = make([]float64, size), make([]float64, size), make([]float64, size)
	n.steep = make([]float64, size)
	one := make([]F, size)
	for i := range one {
		one[i] = 1
	}
	z := make([]F, size)
	Dropout(z, one, a.Dropout.P, a.Dropout.Key, a.Dropout.Site)
	for i, v := range z {
		n.z[i] = float64(v)
	}
	n.forward()
	return n
}

// rows calls f for every query row: its index in (B,H,T), and that of its first key in (B,K,S).
func (n *naive) rows(f func(row, key, b, t int)) {
	a := n.a
	for row := range a.B * a.H * a.T {
		b, h, t := row/a.T/a.H, row/a.T%a.H, row%a.T
		f(row, (b*a.K+h/(a.H/a.K))*a.S, b, t)
	}
}

func (n *naive) forward() {
	a := n.a
	n.out, n.outAbs = make([]float64, a.B*a.H*a.T*a.DV), make([]float64, a.B*a.H*a.T*a.DV)
	n.lse = make([]float64, a.B*a.H*a.T)
	n.rows(n.forwardRow)
}

// forwardRow computes a query's row, with the arguments of rows.
//
//go:norace
func (n *naive) forwardRow(row, key, b, t int) {
	a := n.a
	h, shown := row/a.T%a.H, make([]bool, a.S)
	if a.Shown == nil || !a.Shown(b, h, t, 0, shown) {
		for i := range shown {
			shown[i] = true
		}
	}
	lo, hi := 0, a.S
	if a.Visible != nil {
		lo, hi = a.Visible(b, t)
	}
	top, sink := math.Inf(-1), math.Inf(-1)
	if n.sinks != nil {
		sink = n.sinks[h]
		top = sink
	}
	p, slope, steep := n.p[row*a.S:][:a.S], n.slope[row*a.S:][:a.S], n.steep[row*a.S:][:a.S]
	for s := range a.S {
		x, abs := dotAbs(n.q[row*a.D:][:a.D], n.k[(key+s)*a.D:])
		x *= a.Scale
		slope[s], steep[s] = 1, 1
		if a.Softcap > 0 {
			y := math.Tanh(x / a.Softcap)
			x, slope[s] = a.Softcap*y, 1-y*y
		}
		if a.Score != nil && s < a.biased() {
			n.scoreAbs = max(n.scoreAbs, float64(a.B+2*a.H+3*a.T+a.S)) // added before the sine of drawn functions
			change := a.ScoreSlope(x, b, row/a.T%a.H, t, s)
			slope[s], steep[s] = slope[s]*change, max(1, math.Abs(change))
			x = a.Score(x, b, row/a.T%a.H, t, s)
		}
		x += n.bias[row*a.S+s] + a.SigmoidBias
		if s < lo || s >= hi || !shown[s] {
			x = math.Inf(-1)
		}
		n.scoreAbs = max(n.scoreAbs, abs*a.Scale)
		if !math.IsInf(n.bias[row*a.S+s], 0) {
			n.scoreAbs = max(n.scoreAbs, math.Abs(n.bias[row*a.S+s]))
		}
		p[s] = x
		top = math.Max(top, x)
	}
	n.lse[row] = top
	if math.IsInf(top, -1) {
		clear(p)
		return
	}
	sum := math.Exp(sink - top)
	if a.Sigmoid {
		sum, top = 0, 0
	}
	for s := range p {
		if p[s] = math.Exp(p[s] - top); a.Sigmoid {
			p[s] = 1 / (1 + 1/p[s])
		}
		sum += p[s]
	}
	n.lse[row] = top + math.Log(sum)
	if a.Sigmoid {
		sum = 1
	}
	for s := range p {
		p[s] /= sum
		for d := range a.DV {
			w := p[s] * n.z[row*a.S+s] * n.v[(key+s)*a.DV+d]
			n.out[row*a.DV+d] += w
			n.outAbs[row*a.DV+d] += math.Abs(w)
		}
	}
}

func (n *naive) backward(dout []float64) {
	n.dq, n.dqA, n.dqR = make([]float64, len(n.q)), make([]float64, len(n.q)), make([]float64, len(n.q))
	n.dk, n.dkA, n.dkR = make([]float64, len(n.k)), make([]float64, len(n.k)), make([]float64, len(n.k))
	n.dv, n.dvA = make([]float64, len(n.v)), make([]float64, len(n.v))
	n.db, n.dbA, n.dbR = make([]float64, len(n.p)), make([]float64, len(n.p)), make([]float64, len(n.p))
	n.ds, n.dsA, n.dsR = make([]float64, len(n.sinks)), make([]float64, len(n.sinks)), make([]float64, len(n.sinks))
	dp, dpAbs, common := make([]float64, n.a.S), make([]float64, n.a.S), make([]float64, n.a.D)
	n.rows(func(row, key, _, _ int) { n.backwardRow(dout, row, key, dp, dpAbs, common) })
}

// backwardRow adds the contributions of a query's row to the gradients. dp, dpAbs (S) and common (D) are room.
//
// In bfloat16, with u = halfBF16, the kernel rounds three operands; q, k, v and dout are bfloat16 already:
//
//   - p·z of the forward: out changes by Σ e·p·z·v with |e| ≤ u, and so delta = Σ dout·out by Σ e·p·z·dp, which is at
//     most u·deltaR with deltaR = Σ p·z·|dp|. lse is of weights that are not rounded.
//   - p·z of the backward, for dv.
//   - ds·slope, by u·|slope|·(|ds| + p·u·deltaR): ds = p·(dp·z − delta) already has p·u·deltaR from delta.
//
// All elements of a row share the error of delta: dq gets it times |Σ p·slope·k|. In dk, and in gradients of biases,
// the errors of several rows add up; biases get ds before it is rounded. A sigmoid has no delta.
//
//go:norace
func (n *naive) backwardRow(dout []float64, row, key int, dp, dpAbs, common []float64) {
	a := n.a
	do, p, z := dout[row*a.DV:][:a.DV], n.p[row*a.S:][:a.S], n.z[row*a.S:][:a.S]
	delta, deltaAbs, deltaR := 0., 0., 0.
	for d, v := range do {
		delta += v * n.out[row*a.DV+d]
		deltaAbs += math.Abs(v) * n.outAbs[row*a.DV+d]
	}
	for s := range a.S {
		dp[s], dpAbs[s] = dotAbs(do, n.v[(key+s)*a.DV:])
		deltaR += p[s] * z[s] * math.Abs(dp[s])
	}
	if h := row / a.T % a.H; n.sinks != nil {
		share := math.Exp(n.sinks[h] - n.lse[row])
		n.ds[h] -= share * delta
		n.dsA[h] += share * deltaAbs
		n.dsR[h] += share * deltaR
	}
	clear(common)
	for s := range a.S {
		i := row*a.S + s
		ds := p[s] * (dp[s]*z[s] - delta)
		dsAbs, dsR := p[s]*(dpAbs[s]*z[s]+deltaAbs), p[s]*deltaR
		if a.Sigmoid {
			ds, dsAbs, dsR = p[s]*(1-p[s])*dp[s]*z[s], p[s]*dpAbs[s]*z[s], 0
		}
		n.db[i], n.dbA[i], n.dbR[i] = ds, dsAbs, dsR
		for d, v := range do {
			n.dv[(key+s)*a.DV+d] += p[s] * z[s] * v
			n.dvA[(key+s)*a.DV+d] += math.Abs(p[s] * z[s] * v)
		}
		slope := a.Scale * n.slope[i]
		ds *= slope
		rounded := math.Abs(ds) + halfBF16*math.Abs(slope)*dsR
		dsR *= slope
		// The slope is a difference from 1 with the error of tanh: it counts with its absolute terms.
		dsAbs *= a.Scale * n.steep[i]
		for d := range a.D {
			q, k := n.q[row*a.D+d], n.k[(key+s)*a.D+d]
			n.dq[row*a.D+d] += ds * k
			n.dqA[row*a.D+d] += dsAbs * math.Abs(k)
			n.dqR[row*a.D+d] += rounded * math.Abs(k)
			common[d] += dsR * k
			n.dk[(key+s)*a.D+d] += ds * q
			n.dkA[(key+s)*a.D+d] += dsAbs * math.Abs(q)
			n.dkR[(key+s)*a.D+d] += (rounded + math.Abs(dsR)) * math.Abs(q)
		}
	}
	for d, v := range common {
		n.dqR[row*a.D+d] += math.Abs(v)
	}
}
