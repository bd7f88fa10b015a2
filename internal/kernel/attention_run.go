package kernel

// A block of queries and a block of keys make one tile of scores, the only place where scores exist. Short sequences
// use smaller blocks of queries, because these can skip more of the keys that a causal rule hides.
const (
	queryBlock  = 64 // at most
	lowBlock    = 32
	shortLength = 256
	keyBlock    = 128
)

// leastAttention is the number of multiply-adds below which starting another goroutine costs more than it saves.
const leastAttention = 1 << 18

// attentionRun is one call of Forward, Backward or Largest. Runs are reused, and the functions that parallel.For calls
// are made only once per run, so that a call allocates nothing.
type attentionRun[F Float] struct {
	AttentionCall[F]
	attentionPlan
	gradientSums[F]
	number    uint64 // of the call
	distances []F    // of queries and keys (T+S−1), for statistics

	forward, chosen, singles, sums, backward func(lo, hi int)
}

var attentionRuns = pools{{New: newAttentionRun[float32]}, {New: newAttentionRun[float64]}}

func newAttentionRun[F Float]() any {
	r := new(attentionRun[F])
	r.forward, r.chosen, r.singles = r.forwardTasks, r.forwardChosen, r.forwardSingles
	r.sums, r.backward = r.sumTasks, r.backwardTasks
	return r
}

// newRun returns a run of a call and determines which keys each block of queries sees.
func newRun[F Float](c *AttentionCall[F]) *attentionRun[F] {
	r := poolOf[F](&attentionRuns).Get().(*attentionRun[F])
	r.AttentionCall, r.number = *c, attentionCount.Add(1)
	r.lo, r.hi = resize(r.lo, r.B*r.T), resize(r.hi, r.B*r.T)
	n := r.blocks()
	r.spans = resize(r.spans, r.B*n)
	for b := range r.B {
		if b > 0 && r.Alike {
			copy(r.lo[b*r.T:], r.lo[:r.T])
			copy(r.hi[b*r.T:], r.hi[:r.T])
			copy(r.spans[b*n:], r.spans[:n])
			continue
		}
		for t := range r.T {
			r.lo[b*r.T+t], r.hi[b*r.T+t] = r.keys(b, t)
		}
		for i := range n {
			r.spans[b*n+i] = r.spanOf(b, i*r.height(), min((i+1)*r.height(), r.T))
		}
	}
	return r
}

// end releases the arguments and keeps the run for another call.
func (r *attentionRun[F]) end() {
	r.AttentionCall, r.grad, r.dout = AttentionCall[F]{}, QKV[F]{}, nil
	poolOf[F](&attentionRuns).Put(r)
}

// grain returns how many of n equal tasks a goroutine should execute in a row. products is the number of multiply-adds
// of all tasks.
func (r *attentionRun[F]) grain(n, products int) int {
	work := float64(products) * float64(r.B) * float64(r.H) * float64(r.T) * float64(r.S) * float64(r.D+r.DV) / 2
	return int(min(max(1, leastAttention*float64(n)/max(work, 1)), float64(n)))
}
