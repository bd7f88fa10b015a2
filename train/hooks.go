package train

import (
	"fmt"

	"attention/internal/dense"
)

// afterBatch calls the hooks that follow a batch, with the values of their nodes.
func (pr *program) afterBatch() error {
	for _, h := range pr.hooks {
		if h.Batch == nil {
			continue
		}
		values, err := dense.Tensors(h.Nodes)
		if err != nil {
			return fmt.Errorf("hook: %w", err)
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
