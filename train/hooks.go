package train

import (
	"fmt"

	"gorgonia.org/tensor"
)

// afterBatch gives the build's hooks what they asked for of the batch.
func (pr *program) afterBatch() error {
	for _, h := range pr.hooks {
		if h.Batch == nil {
			continue
		}
		values := make([]*tensor.Dense, len(h.Nodes))
		for i, n := range h.Nodes {
			v, ok := n.Value().(*tensor.Dense)
			if !ok {
				return fmt.Errorf("hook: %v: got a %T, want a tensor", n, n.Value())
			}
			values[i] = v
		}
		if err := h.Batch(values); err != nil {
			return fmt.Errorf("hook: %w", err)
		}
	}
	return nil
}

// checkHooks refuses hooks whose numbers would differ between processes, which have batches of their own.
func (pr *program) checkHooks(processes int) error {
	for _, h := range pr.hooks {
		if h.Batch != nil && h.Largest == nil {
			return fmt.Errorf("train: group: got %d processes and a hook of batches without Largest, want one process: "+
				"each has its own batches", processes)
		}
	}
	return nil
}

// afterStep calls the hooks after an update.
func (pr *program) afterStep() error {
	for _, h := range pr.hooks {
		if h.Step == nil {
			continue
		}
		if err := h.Step(); err != nil {
			return fmt.Errorf("hook: %w", err)
		}
	}
	return nil
}
