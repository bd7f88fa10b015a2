package train

import (
	"fmt"
	"math"

	"attention/graph"

	"gorgonia.org/tensor"
)

// Names of the inputs of the text sources' batches.
const (
	Inputs  = "inputs"  // (B, T) ids
	Targets = "targets" // (B, T) ids, each the one that follows its input, or graph.IgnoreTarget
)

// Batch is what a source hands out for one step: values for a loss's inputs.
type Batch struct {
	Inputs map[string]*tensor.Dense // input's name → value
	Tokens int                      // how many targets count, which the loss is a mean over
}

// Source yields batches. A batch belongs to the source: it is good until the
// next call of Next, which may write into the same tensors.
type Source interface {
	// Next returns the next batch, or io.EOF after the last one of an evaluation.
	Next() (Batch, error)
}

// Resumable is a source that can say where it stands, and go on from there: a
// checkpoint holds its state.
type Resumable interface {
	Source
	// State returns where the source stands.
	State() []byte
	// SetState makes the source go on where a source stood whose State returned
	// state. An error leaves it where it was.
	SetState(state []byte) error
}

// windowBatch is a batch of windows whose memory is used again and again.
type windowBatch struct {
	batch           Batch
	inputs, targets []int
	context         int
	lastOnly        bool // only the last target of a window counts
}

// newWindowBatch makes room for B windows of T positions.
func newWindowBatch(windows, context int, lastOnly bool) *windowBatch {
	inputs := tensor.New(tensor.Of(tensor.Int), tensor.WithShape(windows, context))
	targets := tensor.New(tensor.Of(tensor.Int), tensor.WithShape(windows, context))
	return &windowBatch{
		batch:    Batch{Inputs: map[string]*tensor.Dense{Inputs: inputs, Targets: targets}},
		inputs:   inputs.Ints(),
		targets:  targets.Ints(),
		context:  context,
		lastOnly: lastOnly,
	}
}

// set fills row b with the window of ids that begins at start and counts its
// targets. Positions that have no target in ids get input 0 and no target.
func (w *windowBatch) set(b, start int, ids []int) {
	inputs, targets := w.inputs[b*w.context:(b+1)*w.context], w.targets[b*w.context:(b+1)*w.context]
	n := min(w.context, max(0, len(ids)-1-start))
	for i := range targets {
		inputs[i], targets[i] = 0, graph.IgnoreTarget
	}
	if n == 0 {
		return
	}
	copy(inputs, ids[start:start+n])
	first := 0
	if w.lastOnly {
		first = w.context - 1
	}
	for i := first; i < n; i++ {
		targets[i] = ids[start+i+1]
		w.batch.Tokens++
	}
}

// setAround fills row b like set, in a text whose end is followed by its beginning,
// so that every position has a target.
func (w *windowBatch) setAround(b, start int, ids []int) {
	inputs, targets := w.inputs[b*w.context:(b+1)*w.context], w.targets[b*w.context:(b+1)*w.context]
	for i := range targets {
		inputs[i], targets[i] = ids[(start+i)%len(ids)], graph.IgnoreTarget
		if !w.lastOnly || i == w.context-1 {
			targets[i] = ids[(start+i+1)%len(ids)]
			w.batch.Tokens++
		}
	}
}

// maxBatchTokens is the most that a batch may hold: larger is a mistake.
const maxBatchTokens = math.MaxInt32

// checkWindows checks what every source of windows needs.
func checkWindows(ids []int, batch, context int) error {
	if batch < 1 {
		return fmt.Errorf("train: batch size: got %d windows, want a number >= 1", batch)
	}
	if context < 1 {
		return fmt.Errorf("train: context: got %d, want a number >= 1", context)
	}
	if batch > maxBatchTokens/context {
		return fmt.Errorf("train: batch: got %d windows of %d, want at most %d tokens", batch, context, maxBatchTokens)
	}
	if len(ids) <= context {
		return fmt.Errorf("train: ids: got %d, want more than the context of %d", len(ids), context)
	}
	return nil
}
