package machine

import (
	"slices"

	G "gorgonia.org/gorgonia"
)

// Checkpointer is an op that may mark its result to be kept for the backward pass, and what is
// computed between two marks to be computed again.
type Checkpointer interface{ Checkpoint() bool }

// rematerialize returns the steps with those between two marks made twice: once for the steps
// up to the last mark, once for those behind it, which read the copies. A copy comes right
// before the first step that reads it. The memory of the originals is then free until then.
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

// remat is a list of steps, and that with some of them made twice.
type remat struct {
	from, to []step
	between  []bool      // two marks
	first    []int       // where a step of from is in to
	again    map[int]int // and where it is made again
}

// repeat makes a step between two marks again, once, after those that it reads.
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

// emit appends a step and returns its place. It reads the copies if it comes after all marks.
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

// between returns which steps lie between two marks, on a way from one to the other, and can be
// made again. What is wanted is kept anyway.
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

// canRepeat reports whether a step gives the same value each time: one of ours does, and one of
// Gorgonia's that has no mode, in which it may draw numbers or remember what it has seen.
func canRepeat(s *step) bool {
	_, ours := s.op.(Overwriter)
	_, mode := s.node.Op().(G.TrainModeOp)
	return ours && !mode
}

func isMark(s *step) bool {
	op, ok := s.node.Op().(Checkpointer)
	return ok && op.Checkpoint()
}
