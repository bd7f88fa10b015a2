package kernel

import "attention/internal/parallel"

// A Broadcast reads arrays of different shapes as if they had one: shapes are aligned at their last axes, and an axis
// that is missing or of length 1 is repeated (as in torch and NumPy). Neighbouring axes that all operands read alike
// are merged.
type Broadcast struct {
	n       int          // elements of the result
	lengths []int        // of its axes, from the last to the first; at least one
	steps   [maxIn][]int // of each operand, along these axes; 0 where it is repeated
	sizes   [maxIn]int   // elements of each operand
}

const maxIn = 3

// NewBroadcast returns the Broadcast for at most three operands of these shapes, and the shape of the result. It
// reports whether the shapes fit together.
func NewBroadcast(shapes ...[]int) (b Broadcast, shape []int, ok bool) {
	dims := 0
	for _, s := range shapes {
		dims = max(dims, len(s))
	}
	shape = make([]int, dims)
	b.n = 1
	var step [maxIn]int
	for i, s := range shapes {
		step[i], b.sizes[i] = 1, countOf(s)
	}
	for axis := 1; axis <= dims; axis++ { // counted from the end
		n := 1
		var here [maxIn]int
		for i, s := range shapes {
			if axis > len(s) || s[len(s)-axis] == 1 {
				continue
			}
			if n != 1 && n != s[len(s)-axis] {
				return b, nil, false
			}
			n, here[i] = s[len(s)-axis], step[i]
			step[i] *= n
		}
		shape[dims-axis] = n
		b.n *= n
		b.axis(n, here)
	}
	if len(b.lengths) == 0 {
		b.lengths = []int{1}
		for i := range b.steps {
			b.steps[i] = []int{0}
		}
	}
	return b, shape, true
}

// axis adds an axis before the existing ones, or lengthens the first of them.
func (b *Broadcast) axis(n int, steps [maxIn]int) {
	if n == 1 {
		return
	}
	if last := len(b.lengths) - 1; last >= 0 {
		together := true
		for i, step := range steps {
			before := b.steps[i][last]
			together = together && (step == 0) == (before == 0) && step == before*b.lengths[last]
		}
		if together {
			b.lengths[last] *= n
			return
		}
	}
	b.lengths = append(b.lengths, n)
	for i, step := range steps {
		b.steps[i] = append(b.steps[i], step)
	}
}

// fit panics unless the result and the operands have the lengths of their shapes.
func (b *Broadcast) fit(name string, result int, operands ...int) {
	fit(name, b.n, result)
	for i, n := range operands {
		fit(name, b.sizes[i], n)
	}
}

// A run is a part of the result, elements lo to hi, along the last axis, and the positions at which the operands' parts
// begin. An operand's part has the same length, or is one element that is repeated.
type run struct {
	lo, hi int
	from   [maxIn]int
}

// runs calls f for the runs of the elements [lo,hi). It divides once for all rows of the last two axes.
func (b *Broadcast) runs(lo, hi int, f func(r run)) {
	n := b.lengths[0]
	for lo < hi {
		first, rest, rows := lo%n, lo, 1
		if len(b.lengths) > 1 {
			rows = b.lengths[1] - lo/n%b.lengths[1]
		}
		r := run{lo: lo}
		for axis, n := range b.lengths {
			for i := range r.from {
				r.from[i] += rest % n * b.steps[i][axis]
			}
			rest /= n
		}
		for ; lo < hi; rows-- {
			r.hi = min(hi, lo-first+n)
			f(r)
			if lo = r.hi; rows == 1 {
				break
			}
			for i := range r.from {
				r.from[i] += b.steps[i][1] - first*b.steps[i][0]
			}
			r.lo, first = lo, 0
		}
	}
}

// part returns the part of operand i in a run.
func part[E any](b *Broadcast, r run, i int, x []E) []E {
	if b.steps[i][0] == 0 {
		return x[r.from[i]:][:1]
	}
	return x[r.from[i]:][:r.hi-r.lo]
}

// Select writes x to z where which holds, and y elsewhere. z may be an operand that is not repeated. A nil x or y is 0;
// which is the first operand.
func Select[F Float](z []F, which []bool, x, y []F, b Broadcast) {
	fit("select", b.n, len(z))
	fit("select", b.sizes[0], len(which))
	at := 1
	for _, x := range [2][]F{x, y} {
		if x != nil {
			fit("select", b.sizes[at], len(x))
			at++
		}
	}
	parallel.Do(selectCall[F]{z, which, x, y, b}, b.n, grainFast)
}

type selectCall[F Float] struct {
	z     []F
	which []bool
	x, y  []F
	b     Broadcast
}

func (c selectCall[F]) Do(lo, hi int) {
	var none [1]F
	c.b.runs(lo, hi, func(r run) {
		z, which, x, y := c.z[r.lo:r.hi], part(&c.b, r, 0, c.which), none[:], none[:]
		operand := 1
		if c.x != nil {
			x = part(&c.b, r, operand, c.x)
			operand++
		}
		if c.y != nil {
			y = part(&c.b, r, operand, c.y)
		}
		ofWhich, ofX, ofY := min(1, len(which)-1), min(1, len(x)-1), min(1, len(y)-1) // steps
		for i := range z {
			v := y[i*ofY]
			if which[i*ofWhich] {
				v = x[i*ofX]
			}
			z[i] = v
		}
	})
}
