package kernel

import (
	"math"

	"attention/internal/simd"
)

// sumSinks computes the gradient of the sinks: −Σ share·Σ dout⊙out.
func (r *attentionRun[F]) sumSinks() {
	if r.grad.Sinks == nil {
		return
	}
	for h := range r.H {
		sum, rest := 0., 0. // so that the sum of many rows is as exact as one row's
		for b := range r.B {
			for t := range r.T {
				row := (b*r.H+h)*r.T + t
				if r.delta[row] == 0 { // as in a row without visible keys
					continue
				}
				var low float64
				sum, low = simd.TwoSum(sum, float64(r.sinkShare(row, h))*r.wideDelta(b, h, t))
				rest += low
			}
		}
		r.grad.Sinks[h] = F(-sum)
		if isFinite(sum) {
			r.grad.Sinks[h] = F(-(sum + rest))
		}
	}
}

// wideDelta returns Σ dout⊙out of a row in float64, because a sink's gradient may be the sum over a single row.
func (r *attentionRun[F]) wideDelta(b, h, t int) (sum float64) {
	if r.Precision != Full {
		return float64(r.delta[(b*r.H+h)*r.T+t])
	}
	at := r.OutputAt.at(b, h, t)
	dout := r.dout[at:][:r.DV]
	for i, v := range r.Out[at:][:r.DV] {
		sum += float64(v) * float64(dout[i])
	}
	return sum
}

// sinkShare returns the sink's weight in a row.
func (r *attentionRun[F]) sinkShare(row, h int) F {
	_, shift, _ := r.numbersOf(row, 1)
	return r.factor[row] * F(math.Exp(float64(r.In.Sinks[h])-float64(shift[0])))
}

// sumTasks computes Σ dout⊙out of the rows of blocks of queries, and clears the rows of dq to which no block of keys
// adds.
func (r *attentionRun[F]) sumTasks(lo, hi int) {
	n := r.blocks()
	var room *[]F
	if r.Precision == BFloat16 {
		room = borrow[F](queryBlock * r.DV)
	}
	for task := lo; task < hi; task++ {
		b, h, i := task/n/r.H, task/n%r.H, task%n
		t0, t1 := i*r.height(), min((i+1)*r.height(), r.T)
		at, delta := r.OutputAt.at(b, h, t0), r.delta[(b*r.H+h)*r.T:][t0:t1]
		dout := rowsOf[F]{r.dout[at:], r.OutputAt.Row, r.DV}
		if r.Precision == BFloat16 { // rounded as in the products, so that the effects of rounding cancel
			dout = roundedRows(dout, t1-t0, *room)
		}
		simd.RowDots(r.DV, r.Out[at:], r.OutputAt.Row, dout.data, dout.row, delta)
		for i, v := range delta {
			if !isFinite(v) && !r.seesAny(b, h, t0+i) {
				delta[i] = 0 // 0 times a NaN or ∞, which must not reach the sinks
			}
		}
		row, refined := (b*r.H+h)*r.T+t0, false
		for t, f := range r.LSE[2*r.B*r.H*r.T+row:][:len(delta)] {
			r.factor[row+t] = max(f, -f)
			refined = refined || r.isSaturated(row+t) && !r.seesOne(b, h, t0+t)
		}
		s := r.spans[b*n+i]
		if s.lo == s.hi || r.Chosen != nil {
			r.clearQueries(b, h, t0, t1)
		}
		if refined && s.lo < s.hi && r.Precision == Full {
			r.refine(b, h, i)
		}
	}
	giveBack(room)
}

// roundedRows returns a copy of n rows, rounded to bfloat16, in memory.
func roundedRows[F Float](x rowsOf[F], n int, memory []F) rowsOf[F] {
	y := rowsOf[F]{memory, x.width, x.width}
	for i := range n {
		simd.RoundElements(simd.Singles(x.at(i)), simd.Singles(y.at(i)))
	}
	return y
}

// clearQueries sets the rows [t0,t1) of dq to 0.
func (r *attentionRun[F]) clearQueries(b, h, t0, t1 int) {
	if r.grad.Q == nil {
		return
	}
	for t := t0; t < t1; t++ {
		clear(r.grad.Q[r.QueryAt.at(b, h, t):][:r.D])
	}
}
