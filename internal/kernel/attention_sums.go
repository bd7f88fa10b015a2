package kernel

import "math"

// sumSinks computes the gradient of the sinks: −Σ exp(sink − lse)·Σ dout⊙out.
func (r *attentionRun[F]) sumSinks() {
	if r.grad.Sinks == nil {
		return
	}
	for h := range r.H {
		sum, rest := 0., 0. // so that the sum of many rows is as exact as one of them
		for b := range r.B {
			for t := range r.T {
				row := (b*r.H+h)*r.T + t
				lse, delta := r.lse[row], r.delta[row]
				if delta == 0 { // or else lse is not −∞
					continue
				}
				share := F(math.Exp(float64(r.in.Sinks[h]-lse)-r.lost(row))) * delta
				var lost float64
				sum, lost = sumOf(sum, float64(share))
				rest += lost
			}
		}
		r.grad.Sinks[h] = F(-sum)
		if isFinite(sum) {
			r.grad.Sinks[h] = F(-(sum + rest))
		}
	}
}

// lost returns what rounding took from the lse of a row, 0 if that is no more than it may be of one that is not large.
// Of a huge lse it is all of the logarithm of the sum, and the weights would not add up to 1.
func (r *attentionRun[F]) lost(row int) float64 {
	least := float64(largeFrom) * 0x1p-25
	if sizeOf[F]() == 8 {
		least = float64(largeFrom) * 0x1p-54
	}
	if lost := float64(r.lse[r.B*r.H*r.T+row]); math.Abs(lost) > least {
		return lost
	}
	return 0
}

// sumTasks computes Σ dout⊙out of the rows of blocks of queries, and clears the rows of dq to which no block of
// keys will add.
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
		if r.Precision == BFloat16 { // rounded, as in the products: what that changes in them and in these cancels
			dout = roundedRows(dout, t1-t0, *room)
		}
		rowDots(chosenPath, r.DV, r.out[at:], r.OutputAt.Row, dout.data, dout.row, delta)
		for i, v := range delta {
			if !isFinite(v) && !r.seesAny(b, h, t0+i) {
				delta[i] = 0 // an output of 0 times a NaN or ∞, which must not reach the sinks
			}
		}
		row, large := (b*r.H+h)*r.T+t0, false
		for t := range delta {
			r.factor[row+t] = 1
			if lse := r.lse[row+t]; !r.isLarge(lse) { // what rounding took from it is neglected
				continue
			}
			large = true
			if lost := r.lost(row + t); lost != 0 {
				r.factor[row+t] = F(math.Exp(-lost))
			}
		}
		s := r.spans[b*n+i]
		if s.lo == s.hi || r.Chosen != nil {
			r.clearQueries(b, h, t0, t1)
		}
		if large && s.lo < s.hi && r.Precision == Full {
			r.refine(s, b, h, i)
		}
	}
	giveBack(room)
}

// roundedRows returns a copy of n rows, rounded to bfloat16, in memory.
func roundedRows[F Float](x rowsOf[F], n int, memory []F) rowsOf[F] {
	y := rowsOf[F]{memory, x.width, x.width}
	for i := range n {
		roundElements(singles(x.at(i)), singles(y.at(i)))
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
