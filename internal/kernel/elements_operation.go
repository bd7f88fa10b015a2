package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// An Operation is an operation on two numbers. If they are equal, Lesser and Greater return the first; if one is NaN,
// they return NaN (torch.minimum, torch.maximum). The comparisons after them give 1 or 0.
type Operation int

const (
	Plus Operation = iota
	Minus
	Times
	Over
	Lesser
	Greater
	Less
	LessOrEqual
	More
	MoreOrEqual
	Equal
	Differs
)

// Arithmetic writes x op y to z. z may be an operand that is not repeated.
func Arithmetic[F Float](op Operation, z, x, y []F, b Broadcast) {
	b.fit("arithmetic", len(z), len(x), len(y))
	parallel.Do(arithmeticCall[F]{op, z, x, y, b}, b.n, grainFast)
}

type arithmeticCall[F Float] struct {
	op      Operation
	z, x, y []F
	b       Broadcast
}

func (c arithmeticCall[F]) Do(lo, hi int) {
	var room [roomForNumber]F
	c.b.runs(lo, hi, func(r run) {
		combineRun(c.op, c.z[r.lo:r.hi], part(&c.b, r, 0, c.x), part(&c.b, r, 1, c.y), room[:])
	})
}

// Compare writes to z whether the comparison x op y holds.
func Compare[F Float](op Operation, z []bool, x, y []F, b Broadcast) {
	b.fit("compare", len(z), len(x), len(y))
	parallel.Do(compareCall[F]{op, z, x, y, b}, b.n, grainFast)
}

type compareCall[F Float] struct {
	op   Operation
	z    []bool
	x, y []F
	b    Broadcast
}

func (c compareCall[F]) Do(lo, hi int) {
	var results, room [roomForNumber]F
	for ; lo < hi; lo += roomForNumber {
		c.b.runs(lo, min(lo+roomForNumber, hi), func(r run) {
			z := c.z[r.lo:r.hi]
			results := results[:len(z)]
			combineRun(c.op, results, part(&c.b, r, 0, c.x), part(&c.b, r, 1, c.y), room[:])
			for i, v := range results {
				z[i] = v != 0
			}
		})
	}
}

// roomForNumber is how many copies of a number are written for the kernels, which need two arrays.
const roomForNumber = 1 << 8

// combineRun writes x op y to z. One of x and y may be a single number, whose copies are written to room.
func combineRun[F Float](op Operation, z, x, y, room []F) {
	if len(x) == len(y) {
		combine(op, z, x, y)
		return
	}
	room = room[:min(len(room), len(z))]
	number := y[0]
	if len(x) == 1 {
		number = x[0]
	}
	for i := range room {
		room[i] = number
	}
	for lo := 0; lo < len(z); lo += len(room) {
		hi := min(lo+len(room), len(z))
		if len(x) == 1 {
			combine(op, z[lo:hi], room[:hi-lo], y[lo:hi])
		} else {
			combine(op, z[lo:hi], x[lo:hi], room[:hi-lo])
		}
	}
}

// combine writes x op y to z, of one length.
func combine[F Float](op Operation, z, x, y []F) {
	switch op {
	case Plus:
		simd.AddRows(1, len(z), z, x, y)
	case Minus:
		simd.Sub(z, x, y)
	case Times:
		simd.Mul(z, x, y)
	case Over:
		simd.Div(z, x, y)
	case Lesser:
		simd.Lesser(z, y, x) // it returns its second argument if they are equal
	case Greater:
		simd.Greater(z, y, x)
	case Less:
		simd.Less(z, x, y)
	case LessOrEqual:
		simd.LessOrEqual(z, x, y)
	case More:
		simd.Less(z, y, x)
	case MoreOrEqual:
		simd.LessOrEqual(z, y, x)
	case Equal:
		simd.Equal(z, x, y)
	case Differs:
		simd.Differs(z, x, y)
	}
}
