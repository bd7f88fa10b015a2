package stock

import (
	"strings"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
)

// A section is a slice of a tensor that is read as (outer, n, inner): count lines of inner elements, beginning at line
// from, each step lines after the previous one.
type section struct {
	outer, n, inner   int
	from, count, step int
}

// sectionOf reads the text of a slice: "T[:, :, from:to:step", or ":" for a whole axis, then a suffix.
func sectionOf(text, suffix string, whole, taken *G.Node) (s *section, ok bool) {
	text, begins := strings.CutPrefix(text, "T[")
	text, ends := strings.CutSuffix(text, suffix)
	axes := strings.Split(text, ", ")
	axis := len(axes) - 1
	shape := whole.Shape()
	if !begins || !ends || axis >= shape.Dims() {
		return nil, false
	}
	s = &section{step: 1}
	s.outer, s.n, s.inner = split(shape, axis)
	s.count = s.n
	if axes[axis] != ":" {
		bounds, _ := integers(axes[axis], "", ":", "")
		if len(bounds) != 3 || bounds[0] < 0 || bounds[2] < 0 {
			return nil, false
		}
		length := min(bounds[1], s.n) - bounds[0]
		s.from, s.step = bounds[0], max(bounds[2], 1)
		s.count = max(length/s.step, 1)
		// If the step does not divide the range, Gorgonia's tensors have one line more, except along the first axis.
		if length < 1 || axis > 0 && length > s.step && length%s.step != 0 {
			return nil, false
		}
	}
	return s, s.outer*s.count*s.inner == taken.Shape().TotalSize()
}

// slice returns the op of a slice: "T[:, :, from:to:step...]". If the slice is contiguous, the result is part of the
// input's memory.
func slice[F kernel.Float](c call) *Op {
	s, ok := sectionOf(c.text, "...]", c.in[0], c.node)
	switch {
	case !ok:
		return nil
	case (s.outer == 1 || s.count == s.n) && (s.step == 1 || s.count == 1) && !c.node.Shape().IsScalar():
		return &Op{by: Nothing, from: s.from * s.inner}
	}
	return loops(nil, s.outer*s.count, 1+loopGrain/s.inner, func(y []F, x [][]F, lo, hi int) {
		for lo < hi {
			o, j := lo/s.count, lo%s.count
			n := min(s.count-j, hi-lo)
			copyLines(y[lo*s.inner:], x[0][(o*s.n+s.from+j*s.step)*s.inner:], n, s.inner, 1, s.step)
			lo += n
		}
	})
}

// sliceBackward returns the op of a slice's gradient, "T[…...]+=...": the slice's gradient at the slice's elements, and
// zeros elsewhere. The sliced values do not matter.
func sliceBackward[F kernel.Float](c call) *Op {
	s, ok := sectionOf(c.text, "...]+=...", c.in[0], c.in[1])
	if !ok || !isFloat[F](c.in[1]) || !sameSize(c.node, c.in[0]) {
		return nil
	}
	return loops(nil, s.outer*s.n, 1+loopGrain/s.inner, func(y []F, x [][]F, lo, hi int) {
		clear(y[lo*s.inner : hi*s.inner])
		for lo < hi {
			o, line := lo/s.n, lo%s.n
			n := min(s.n-line, hi-lo)
			j := max(0, (line-s.from+s.step-1)/s.step) // the first line of the slice
			end := min(s.count, max(0, (line+n-s.from+s.step-1)/s.step))
			if j < end {
				to := y[(o*s.n+s.from+j*s.step)*s.inner:]
				copyLines(to, x[0][(o*s.count+j)*s.inner:], end-j, s.inner, s.step, 1)
			}
			lo += n
		}
	}).reading(c.in[1])
}

// copyLines copies n lines of inner elements, every stepY-th line of y from every stepX-th of x.
func copyLines[F kernel.Float](y, x []F, n, inner, stepY, stepX int) {
	switch {
	case n == 1 || stepY == 1 && stepX == 1:
		copy(y[:n*inner], x)
	case inner == 1:
		for i := range n {
			y[i*stepY] = x[i*stepX]
		}
	default:
		for i := range n {
			copy(y[i*stepY*inner:][:inner], x[i*stepX*inner:])
		}
	}
}
