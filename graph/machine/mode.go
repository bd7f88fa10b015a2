package machine

import (
	"fmt"

	"attention/internal/dense"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// train puts an op into training mode. SetTraining(true) of a BatchNorm resets its running statistics, so train calls
// it only for a BatchNorm without statistics.
func train(op G.TrainModeOp) error {
	training := modeOf(op)
	if training == nil || !hasStatistics(op) {
		return op.SetTraining(true)
	}
	*training = true
	return nil
}

// hasStatistics reports whether an op has running statistics that are no longer zero: BatchNorm creates them as zeros.
func hasStatistics(op any) bool {
	norm, ok := op.(interface {
		Stats() (mean, variance tensor.Tensor)
	})
	if !ok {
		return false
	}
	mean, variance := norm.Stats()
	for _, t := range []tensor.Tensor{mean, variance} {
		for _, v := range dense.Float64s(t) {
			if v != 0 {
				return true
			}
		}
	}
	return false
}

// setMode sets the ops of an evaluating machine to evaluation, and returns a function that restores their modes.
func (m *Machine) setMode() (back func(), err error) {
	if m.graph == nil || !m.graph.config.Evaluate {
		return func() {}, nil
	}
	if back, err = evaluate(m.graph.modes); err != nil {
		return nil, fmt.Errorf("machine: %w", err)
	}
	return back, nil
}

// evaluate sets ops to evaluation, and returns a function that restores their modes.
func evaluate(ops []G.TrainModeOp) (back func(), err error) {
	was := make([]bool, len(ops))
	for i, op := range ops {
		if training := modeOf(op); training != nil {
			was[i] = *training
		}
	}
	for _, op := range ops { // some ops share a mode
		if err := op.SetTraining(false); err != nil {
			return nil, err
		}
	}
	return func() {
		for i, op := range ops {
			if training := modeOf(op); training != nil {
				*training = was[i]
			}
		}
	}, nil
}
