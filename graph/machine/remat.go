package machine

import (
	"slices"

	G "gorgonia.org/gorgonia"
)

// Checkpointer is an op that may mark its result as a checkpoint: the result is kept for the backward pass, and the
// values between two checkpoints are computed again.
type Checkpointer interface{ Checkpoint() bool }

// rematerialize returns the steps, with the steps between two marks duplicated: the original is read by the steps up to
// the last mark, the copy by the steps behind it. A copy comes right before the first step that reads it. The memory of
// the originals is then free until then.
func rematerialize(steps []step, wanted G.Nodes) []step {
	last := -1
	for i := range steps {
		if isMark(&steps[i]) {
			last = i
		}
	}
	if last < 0 {
		return steps
	}
	r := remat{from: steps, between: between(steps, wanted), first: make([]int, len(steps)), again: map[int]int{}}
	for i := range steps {
		for _, j := range steps[i].inputs {
			if i > last && r.between[j] {
				r.repeat(j)
			}
		}
		r.first[i] = r.emit(steps[i], i > last)
	}
	return r.to
}

// remat is a list of steps, and the list with some of them duplicated.
type remat struct {
	from, to []step
	between  []bool      // two marks
	first    []int       // the index in to of a step of from
	again    map[int]int // and the index of its copy
}

// repeat duplicates a step between two marks once, after the steps that it reads.
func (r *remat) repeat(i int) {
	if _, ok := r.again[i]; ok {
		return
	}
	for _, j := range r.from[i].inputs {
		if r.between[j] {
			r.repeat(j)
		}
	}
	s := r.from[i]
	s.again = true
	r.again[i] = r.emit(s, true)
}

// emit appends a step and returns its index. The step reads the copies if it comes after all marks.
func (r *remat) emit(s step, reread bool) int {
	inputs := slices.Clone(s.inputs)
	for i, j := range inputs {
		inputs[i] = r.first[j]
		if k, ok := r.again[j]; ok && reread {
			inputs[i] = k
		}
	}
	s.inputs, s.in = inputs, make([]G.Value, len(inputs))
	r.to = append(r.to, s)
	return len(r.to) - 1
}

// between returns the steps that are on a path from one mark to another and can be repeated. Wanted values are kept
// anyway.
func between(steps []step, wanted G.Nodes) []bool {
	behind, before := make([]bool, len(steps)), make([]bool, len(steps))
	for i := range steps {
		for _, j := range steps[i].inputs {
			behind[i] = behind[i] || behind[j] || isMark(&steps[j])
		}
	}
	for i := len(steps) - 1; i >= 0; i-- {
		for _, j := range steps[i].inputs {
			before[j] = before[j] || before[i] || isMark(&steps[i])
		}
	}
	for i := range steps {
		s := &steps[i]
		behind[i] = behind[i] && before[i] && !isMark(s) && canRepeat(s) && !slices.Contains(wanted, s.node)
	}
	return behind
}

// canRepeat reports whether a step gives the same value each time. This module's ops do, and so do Gorgonia's ops
// without a mode; ops with a mode may draw random numbers or keep statistics.
func canRepeat(s *step) bool {
	_, ours := s.op.(Overwriter)
	_, mode := s.node.Op().(G.TrainModeOp)
	return ours && !mode
}

func isMark(s *step) bool {
	op, ok := s.node.Op().(Checkpointer)
	return ok && op.Checkpoint()
}
