package layers

import (
	"errors"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// StepHook is called by the steps of training with values of the training graph. Package
// train calls it; an evaluation does not.
type StepHook struct {
	Nodes G.Nodes // computed with the loss of every batch

	// Batch is called after each batch of a step, with the values of Nodes, which are valid
	// until it returns; may be nil. After an error the step is not taken.
	Batch func(values []*tensor.Dense) error
	// Largest are numbers that Batch sets. Where several processes train, each on batches of its
	// own, each number becomes the largest of all processes before Step. A hook with Batch but
	// without Largest is refused if there are several processes.
	Largest [][]float64
	// Step is called after the parameters have moved; may be nil. It may change them. After
	// an error training ends.
	Step func() error
}

// OnStep adds a hook to the steps that are made for the build afterwards. Hooks are called
// in this order.
func (b *Build) OnStep(h StepHook) {
	for _, n := range h.Nodes {
		if n == nil || n.Graph() != b.graph {
			b.Of(nil, errors.New("layers: build: hook: got a node of another graph or nil, want those of the build's"))
			return
		}
	}
	b.hooks = append(b.hooks, h)
}

// StepHooks returns the hooks of OnStep.
func (b *Build) StepHooks() []StepHook { return b.hooks }
