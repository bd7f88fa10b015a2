package kernel

import "math"

// scores is a tile of scores of one head: that of query t0+i and key s0+j is data[i·queryStep+j·keyStep],
// where one of the steps is 1.
type scores[F Float] struct {
	data               []F
	b, h               int
	t0, queries        int
	s0, keys           int
	queryStep, keyStep int
}

// line is the i-th of count runs of elements that lie side by side.
func (x *scores[F]) line(i int) []F {
	if x.queryStep == 1 {
		return x.data[i*x.keyStep:][:x.queries]
	}
	return x.data[i*x.queryStep:][:x.keys]
}

func (x *scores[F]) lines() int {
	if x.queryStep == 1 {
		return x.keys
	}
	return x.queries
}

// finish caps the scores and adds the bias. If slope is given, it is a tile like x and takes the derivative of the
// capping.
//
//	y = c·tanh(x/c):  dy/dx = 1 − (y/c)²
func (r *attentionRun[F]) finish(x *scores[F], slope []F) {
	if r.Softcap > 0 {
		c := F(r.Softcap)
		for i := range x.lines() {
			line := x.line(i)
			for j, v := range line {
				line[j] = F(math.Tanh(float64(v / c)))
			}
			if slope != nil {
				s := slope[i*max(x.queryStep, x.keyStep):][:len(line)]
				for j, v := range line {
					s[j] = 1 - v*v
				}
			}
			for j := range line {
				line[j] *= c
			}
		}
	}
	if r.in.Bias == nil {
		return
	}
	for i := range x.queries {
		bias := r.in.Bias[r.biasAt(x, i):]
		for j := range x.keys {
			x.data[i*x.queryStep+j*x.keyStep] += bias[j*r.BiasAt.Key]
		}
	}
}

// biasAt is where the bias of query t0+i and key s0 lies.
func (r *attentionRun[F]) biasAt(x *scores[F], i int) int {
	at := &r.BiasAt
	return x.b*at.Batch + x.h*at.Head + (x.t0+i)*at.Query + x.s0*at.Key
}

// addBias adds the gradients of the scores to the gradient of the bias.
func (r *attentionRun[F]) addBias(x *scores[F]) {
	for i := range x.queries {
		bias := r.grad.Bias[r.biasAt(x, i):]
		for j := range x.keys {
			bias[j*r.BiasAt.Key] += x.data[i*x.queryStep+j*x.keyStep]
		}
	}
}

// clearBias sets every element of the gradient of the bias to 0, and nothing between them.
func (r *attentionRun[F]) clearBias() {
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
				for s := range once(r.S, at.Key) {
					r.grad.Bias[b*at.Batch+h*at.Head+t*at.Query+s*at.Key] = 0
				}
			}
		}
	}
}

// hide sets to −∞ what query t0+i does not see, which is all but the keys lo[i] ≤ s < hi[i].
func (x *scores[F]) hide(lo, hi []int) {
	for i := range x.queries {
		a, b := max(lo[i]-x.s0, 0), min(hi[i]-x.s0, x.keys)
		if a >= b {
			a, b = x.keys, x.keys
		}
		for j := range a {
			x.data[i*x.queryStep+j*x.keyStep] = lowest[F]()
		}
		for j := b; j < x.keys; j++ {
			x.data[i*x.queryStep+j*x.keyStep] = lowest[F]()
		}
	}
}

// dropper makes again any part of the mask that Dropout would make for the (B,H,T,S) weights.
type dropper[F Float] struct {
	seed, below uint64
	scale       F
}

func newDropper[F Float](d WeightDropout) dropper[F] {
	return dropper[F]{mix(mix(uint64(d.Key)) + uint64(d.Site)*golden), uint64(d.P * math.Exp2(64)), F(1 / (1 - d.P))}
}

// weights drops from a tile of weights.
func (d *dropper[F]) weights(x *scores[F], a *Attention) {
	for i := range x.queries {
		at := d.seed + uint64(((x.b*a.H+x.h)*a.T+x.t0+i)*a.S+x.s0)*golden
		for j := range x.keys {
			p := &x.data[i*x.queryStep+j*x.keyStep]
			if mix(at) >= d.below {
				*p *= d.scale
			} else {
				*p = 0
			}
			at += golden
		}
	}
}
