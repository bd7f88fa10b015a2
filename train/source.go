package train

import (
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// Loss builds a model and its loss in a graph: it declares its inputs with
// b.Input and returns a scalar. It is called once for each graph.
type Loss func(b *layers.Build) (*G.Node, error)

// Values are the values of a graph's inputs, by the inputs' names.
type Values = layers.Values

// Batch has the values of a loss's inputs for one batch of examples.
type Batch struct {
	Inputs Values // by the inputs' names
	Tokens int    // number of targets that count, which the loss is a mean over
}

// Source yields batches. A batch belongs to the source: it is valid until the
// next call of Next, which may write into the same tensors.
type Source interface {
	// Next returns the next batch, or io.EOF after the last one of an evaluation.
	Next() (Batch, error)
}

// Resumable is a source whose position can be saved and restored: a checkpoint
// holds its state.
type Resumable interface {
	Source
	// State returns the source's position.
	State() []byte
	// SetState continues from the position that State returned. An error leaves
	// the source where it was.
	SetState(state []byte) error
}
