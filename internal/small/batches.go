package small

import (
	"io"
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/train"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// TextBatch makes a batch of ids. All targets count, except those that are graph.IgnoreTarget.
func TextBatch(inputs, targets []int) train.Batch {
	b := train.Batch{Inputs: map[string]*tensor.Dense{
		text.Inputs:  tensor.New(tensor.WithShape(BatchSize, ContextLength), tensor.WithBacking(inputs)),
		text.Targets: tensor.New(tensor.WithShape(BatchSize, ContextLength), tensor.WithBacking(targets)),
	}}
	for _, target := range targets {
		if target != graph.IgnoreTarget {
			b.Tokens++
		}
	}
	return b
}

// Batch returns a batch that depends only on the seed.
func Batch(seed uint64) train.Batch {
	random := rand.New(rand.NewPCG(seed, 0))
	inputs, targets := make([]int, BatchSize*ContextLength), make([]int, BatchSize*ContextLength)
	for i := range inputs {
		inputs[i], targets[i] = random.IntN(Vocabulary), random.IntN(Vocabulary)
	}
	return TextBatch(inputs, targets)
}

// Ignore makes only the first n targets of a batch count.
func Ignore(b train.Batch, n int) train.Batch {
	targets := b.Inputs[text.Targets].Ints()
	for i := n; i < len(targets); i++ {
		targets[i] = graph.IgnoreTarget
	}
	b.Tokens = n
	return b
}

// List is a source that yields the batches of a list; after the last comes the error End, and then the first batch
// again.
type List struct {
	List []train.Batch
	End  error
	At   int // batches drawn since the first
}

// Next returns the next batch.
func (s *List) Next() (train.Batch, error) {
	if s.At == len(s.List) {
		s.At = 0
		return train.Batch{}, s.End
	}
	s.At++
	return s.List[s.At-1], nil
}

// Batches is a source of n batches.
func Batches(n int) *List {
	s := &List{End: io.EOF}
	for i := range n {
		s.List = append(s.List, Batch(uint64(i)))
	}
	return s
}

// Texts returns one Resumable source of each kind over one text.
func Texts(t testing.TB) map[string]train.Resumable {
	ids := make([]int, 200)
	for i := range ids {
		ids[i] = i * i % Vocabulary
	}
	random, err := text.NewWindows(ids, text.WindowConfig{Batch: BatchSize, Context: ContextLength}, 9)
	require.NoError(t, err)
	inOrder, err := text.NewCycle(ids, text.WindowConfig{Batch: BatchSize, Context: ContextLength})
	require.NoError(t, err)
	return map[string]train.Resumable{"random": random, "in order": inOrder}
}

// Watched calls Look before every batch.
type Watched struct {
	train.Source
	Look func()
}

// Next returns the next batch of the source.
func (w *Watched) Next() (train.Batch, error) {
	w.Look()
	return w.Source.Next()
}
