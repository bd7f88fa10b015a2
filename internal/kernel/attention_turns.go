package kernel

import (
	"runtime"
	"sync/atomic"
	"time"
)

// gradientSums holds the sums of a backward.
type gradientSums[F Float] struct {
	grad   QKV[F]
	dout   []F
	delta  []F            // Σ dout⊙out of every row (B,H,T), or a better estimate of Σ weight·dP
	low    []F            // the rounding error of delta
	factor []F            // of every row, without the mark of saturation
	turns  []atomic.Int32 // number of blocks of keys that have added to a block of dq (B,H,blocks)
	next   []atomic.Int32 // for each head, the next block of keys to be assigned
	failed atomic.Bool
	// Sums of the biases' gradients, with the indices of the gradients, if sums in float32 would lose digits.
	relativeSums, biasSums []float64
	// axes along which tasks add to the same elements of dbias
	shared struct{ batch, head, key bool }
}

func (r *attentionRun[F]) beginBackward(grad QKV[F], dout []F) {
	r.grad, r.dout = grad, dout
	n := r.B * r.H * r.T
	r.delta, r.low, r.factor = resize(r.delta, n), resize(r.low, n), resize(r.factor, n)
	clear(r.low)
	r.turns = resize(r.turns, r.B*r.H*r.blocks())
	for i := range r.turns {
		r.turns[i].Store(0)
	}
	r.failed.Store(false)
	clear(grad.Forget.Query)
	clear(grad.Forget.Key)
	r.shared.batch, r.shared.head, r.shared.key = false, false, false
	r.beginBias()
	if grad.Bias != nil {
		r.shared.batch, r.shared.head, r.shared.key = r.BiasAt.Batch == 0, r.BiasAt.Head == 0, r.BiasAt.Key == 0
	}
	if grad.Relative != nil {
		r.shared.batch, r.shared.key = true, true
		r.shared.head = r.shared.head || r.RelativeAt.Head == 0
	}
	batches, heads, _ := r.backwardAxes()
	r.next = resize(r.next, batches*heads)
	for i := range r.next {
		r.next[i].Store(0)
	}
}

// keyBlocks returns the number of blocks of keys.
func (r *attentionRun[F]) keyBlocks() int {
	if r.Chosen != nil {
		return r.gathered.blocks
	}
	return (r.S + keyBlock - 1) / keyBlock
}

// backwardAxes returns the numbers of batches, key/value heads and blocks of keys: each task takes one of each. A
// task takes all of an axis along which tasks would add to the same elements of dbias, which then counts as one.
func (r *attentionRun[F]) backwardAxes() (batches, heads, keys int) {
	batches, heads, keys = r.B, r.K, r.keyBlocks()
	if r.shared.batch {
		batches = min(batches, 1)
	}
	if r.shared.head {
		heads = 1
	}
	if r.shared.key {
		keys = min(keys, 1)
	}
	return batches, heads, keys
}

func (r *attentionRun[F]) backwardCount() int {
	batches, heads, keys := r.backwardAxes()
	return batches * heads * keys
}

// claim returns the task with the given number. Blocks of keys of a head are assigned in order, so that a task begins
// after the tasks that it waits for. Each worker starts with heads of its own, whose gradients stay in its cache, and
// then helps with the heads of others.
func (r *attentionRun[F]) claim(task int) int {
	_, _, keys := r.backwardAxes()
	for head := task / keys; ; head = (head + 1) % len(r.next) {
		if j := int(r.next[head].Add(1)) - 1; j < keys {
			return head*keys + j
		}
	}
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
