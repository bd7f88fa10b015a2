package kernel

import (
	"runtime"
	"sync/atomic"
	"time"
)

// A block of queries meets a block of keys in one tile of scores, the only place where scores exist. Short
// sequences are cut into lower blocks of queries: a larger part of what a causal rule hides is skipped then.
const (
	queryBlock  = 64 // at most
	lowBlock    = 32
	shortLength = 256
	keyBlock    = 128
)

// leastAttention is the number of multiply-adds below which starting another goroutine costs more than it
// brings.
const leastAttention = 1 << 18

// attentionRun is one call of Forward, Backward or Largest. Runs are reused, and the functions that Parallel calls are
// made once for each, so that a call allocates nothing.
type attentionRun[F Float] struct {
	AttentionCall[F]
	attentionPlan
	gradientSums[F]
	number    uint64 // of the call
	distances []F    // of queries and keys (T+S−1), for statistics

	forward, chosen, singles, sums, backward func(lo, hi int)
}

// attentionPlan is which keys the queries of a call see.
type attentionPlan struct {
	lo, hi   []int  // the keys lo ≤ s < hi that Visible leaves to every query (B,T)
	spans    []span // of every block of queries (B,blocks)
	gathered chosenQueries
}

// span is the range lo ≤ s < hi of the keys that any query of a block sees; it is empty if lo = hi. All queries see
// the keys allLo ≤ s < allHi.
type span struct{ lo, hi, allLo, allHi int }

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

// blocks returns the number of blocks of queries.
func (r *attentionRun[F]) blocks() int { return (r.T + r.height() - 1) / r.height() }

// height returns the number of queries of every block except the last, which may have fewer.
func (r *attentionRun[F]) height() int {
	if r.T <= shortLength {
		return lowBlock
	}
	return queryBlock
}

// spanOf returns the span of the queries [t0,t1).
func (r *attentionRun[F]) spanOf(b, t0, t1 int) span {
	if r.Visible == nil {
		return span{0, r.S, 0, r.S}
	}
	return r.spanOver(r.lo[b*r.T+t0:b*r.T+t1], r.hi[b*r.T+t0:b*r.T+t1])
}

// spanOver returns the span of queries of which each sees the keys from one of lo up to one of hi.
func (r *attentionRun[F]) spanOver(los, his []int) span {
	s := span{allHi: r.S}
	for i, lo := range los {
		hi := his[i]
		switch {
		case lo == hi:
		case s.lo == s.hi:
			s.lo, s.hi = lo, hi
		default:
			s.lo, s.hi = min(s.lo, lo), max(s.hi, hi)
		}
		s.allLo, s.allHi = max(s.allLo, lo), min(s.allHi, hi)
	}
	if r.Precision == BFloat16 { // pairs of keys
		s.lo, s.hi = wholePairs(s.lo, s.hi, r.S)
	}
	return s
}

// grain returns how many of n equal tasks a goroutine takes at once, for work of the given number of products.
func (r *attentionRun[F]) grain(n, products int) int {
	work := float64(products) * float64(r.B) * float64(r.H) * float64(r.T) * float64(r.S) * float64(r.D+r.DV) / 2
	return int(min(max(1, leastAttention*float64(n)/max(work, 1)), float64(n)))
}

// await waits until turn reaches want and reports whether it did: it does not once another task has failed. The tasks
// of a head are handed out in order and wait only for earlier ones, so one of them can always continue.
func (r *attentionRun[F]) await(turn *atomic.Int32, want int32) bool {
	for n := 0; turn.Load() != want; n++ {
		if r.failed.Load() {
			return false
		}
		if n < 100 {
			runtime.Gosched()
		} else {
			time.Sleep(10 * time.Microsecond)
		}
	}
	return true
}

// resize returns n elements of s, or of new memory if it must. What they hold is left over from before.
func resize[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}

// attentionTiles is the memory of one worker: a few blocks whose size does not depend on T and S.
type attentionTiles[F Float] struct {
	memory []F
	t0     int   // the first query of the block
	lo, hi []int // the keys that Visible leaves to each query of the block
	// Of queries that do not follow each other: which they are, memory for lo and hi, and for rows of theirs.
	queries            []int32
	chosenLo, chosenHi [queryBlock]int
	gathered           [2][]F
	numbers            [4][queryBlock]F
	// The answers of Shown for a tile: which queries do not see all keys, and what each of those sees.
	holes [queryBlock]bool
	shown [queryBlock * keyBlock]bool

	columns [keyBlock]F    // 0, 1, 2, …
	copies  [2]headCopy[F] // forward of keys and values, backward of queries and the gradients of the output

	pairs []F // of a tile's weights, or of rows that are to be columns

	zeros, ones, columnSums []F
	sums                    [keyBlock]F // of rows times zeros
}

var attentionTilePools = newPools[attentionTiles[float32], attentionTiles[float64]]()

// cut divides the memory into slices of the given lengths, each beginning on a line of the cache if the
// memory does.
func (w *attentionTiles[F]) cut(slices []*[]F, lengths ...int) {
	total := 0
	for _, n := range lengths {
		total += wholeVectors(n)
	}
	rest := room(&w.memory, total)
	for i, n := range lengths {
		*slices[i] = rest[:n:n]
		rest = rest[wholeVectors(n):]
	}
}

// vector is a multiple of the number of elements of a vector on every path; blocks are multiples of it.
const vector = 16

func wholeVectors(n int) int { return (n + vector - 1) &^ (vector - 1) }

// look sets lo and hi to the keys that Visible leaves to the queries [t0,t0+rows).
func (r *attentionRun[F]) look(w *attentionTiles[F], b, t0, rows int) {
	w.t0, w.queries = t0, nil
	w.lo, w.hi = r.lo[b*r.T+t0:][:rows], r.hi[b*r.T+t0:][:rows]
}

// seeing returns the range of queries, of the first rows, outside which none sees any of the keys [s0,s1), and
// whether all inside it see them all.
func (w *attentionTiles[F]) seeing(s *span, rows, s0, s1 int) (t0, t1 int, all bool) {
	if s.allLo <= s0 && s1 <= s.allHi {
		return 0, rows, true
	}
	t0, all = rows, true
	for t := range rows {
		if w.lo[t] < s1 && w.hi[t] > s0 {
			t0, t1 = min(t0, t), t+1
		}
	}
	for t := t0; t < t1; t++ {
		all = all && w.lo[t] <= s0 && w.hi[t] >= s1
	}
	return t0, t1, all
}
