package kernel

import (
	"slices"

	"attention/internal/parallel"
	"attention/internal/simd"
)

// A Permutation is a new order of the axes of a row-major array. It copies runs of elements that stay together: y has
// the runs one after another; their axes, from the last to the first, have these lengths and strides in x.
type Permutation struct {
	n, run         int
	lengths, steps []int
	turned         int // the axis that is contiguous in x, if y has no runs
}

// NewPermutation returns the order in which axis i of the result is axis order[i] of an array of these lengths.
func NewPermutation(lengths, order []int) Permutation {
	fit("permutation", len(order), len(lengths))
	steps := make([]int, len(lengths))
	p := Permutation{n: 1, run: 1}
	for i := len(lengths) - 1; i >= 0; i-- {
		steps[i] = p.n
		p.n *= lengths[i]
	}
	for i := len(order) - 1; i >= 0; i-- {
		n, step := lengths[order[i]], steps[order[i]]
		last := len(p.lengths) - 1
		switch {
		case n == 1:
		case last < 0 && step == p.run:
			p.run *= n
		case last >= 0 && step == p.steps[last]*p.lengths[last]:
			p.lengths[last] *= n
		default:
			p.lengths, p.steps = append(p.lengths, n), append(p.steps, step)
		}
	}
	p.turned = slices.Index(p.steps, 1)
	return p
}

// Permute writes x in another order of its axes to y, which must not be x (torch.permute).
func Permute[F Float](y, x []F, p Permutation) {
	fit("permute", p.n, len(x), len(y))
	switch {
	case len(x) == 0:
	case p.turned > 0:
		n, across := p.lengths[p.turned], p.lengths[0]
		blocks := (n + turnedBlock - 1) / turnedBlock
		grain := rowGrain(grainFast, min(n, turnedBlock)*across)
		parallel.Do(turnCall[F]{y, x, p, blocks}, len(x)/(n*across)*blocks, grain)
	default:
		parallel.Do(permuteCall[F]{y, x, p}, len(x)/p.run, rowGrain(grainFast, p.run))
	}
}

// turnedBlock is the number of contiguous elements of x that are read together: one or two cache lines.
const turnedBlock = 16

// A turnCall transposes: elements that are contiguous in y are strided in x, and vice versa.
type turnCall[F Float] struct {
	y, x   []F
	p      Permutation
	blocks int // of the turned axis
}

func (c turnCall[F]) Do(lo, hi int) {
	n, across := c.p.lengths[c.p.turned], c.p.lengths[0]
	for i := lo; i < hi; i++ {
		q := i % c.blocks * turnedBlock
		rest, from, to, stride, row := i/c.blocks, q, 0, 1, 0
		for axis, length := range c.p.lengths {
			switch axis {
			case 0:
			case c.p.turned:
				row = stride
				to += q * stride
			default:
				from += rest % length * c.p.steps[axis]
				to += rest % length * stride
				rest /= length
			}
			stride *= length
		}
		simd.TransposePanel(min(turnedBlock, n-q), across, c.x[from:], c.p.steps[0], c.y[to:], row)
	}
}

type permuteCall[F Float] struct {
	y, x []F
	p    Permutation
}

func (c permuteCall[F]) Do(lo, hi int) {
	run := c.p.run
	if len(c.p.lengths) == 0 {
		copy(c.y, c.x)
		return
	}
	for i := lo; i < hi; {
		at, rest := 0, i
		for axis, n := range c.p.lengths {
			at += rest % n * c.p.steps[axis]
			rest /= n
		}
		n, step := min(hi-i, c.p.lengths[0]-i%c.p.lengths[0]), c.p.steps[0] // along the innermost axis
		if run == 1 {
			y := c.y[i:][:n]
			for j := range y {
				y[j] = c.x[at+j*step]
			}
		} else {
			for j := range n {
				copy(c.y[(i+j)*run:][:run], c.x[at+j*step:])
			}
		}
		i += n
	}
}
