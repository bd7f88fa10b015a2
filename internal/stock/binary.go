package stock

import (
	"math"
	"slices"
	"strings"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// operations lists the operations on two numbers that are kernels, by the op's text.
var operations = map[string]kernel.Operation{
	"+": kernel.Plus, "-": kernel.Minus, "⊙": kernel.Times, "÷": kernel.Over,
	"<": kernel.Less, "<=": kernel.LessOrEqual, ">": kernel.More, ">=": kernel.MoreOrEqual,
	"==": kernel.Equal, "!=": kernel.Differs,
}

// power is the text of the only operation that is not a kernel.
const power = "^"

// binary returns an op of two inputs of one size, or of a tensor and a number. Its text is a word, followed by whether
// a comparison returns numbers.
func binary[F kernel.Float](c call) *Op {
	word, _, _ := strings.Cut(c.text, " ")
	if operation, ok := operations[word]; ok {
		return operate[F](c, operation)
	}
	if word == power {
		return pow[F](c)
	}
	return nil
}

// smaller and larger return the smaller and the larger of two elements: NaN where one is NaN, as in torch.
func smaller[F kernel.Float](c call) *Op { return operate[F](c, kernel.Lesser) }

func larger[F kernel.Float](c call) *Op { return operate[F](c, kernel.Greater) }

// operate returns the op of an operation.
func operate[F kernel.Float](c call, operation kernel.Operation) *Op {
	if of, factor := c.scaled(c.node); of != nil {
		if op := productInto[F](c, of, stored(c.node), factor); op != nil {
			return op
		}
	}
	p, ok := pairOf[F](c)
	by := Kernel
	if operation >= kernel.Less || operation == kernel.Lesser { // which package kernel computes in Go
		by = Loop
	}
	switch {
	case !ok:
		return nil
	case isFloat[F](c.node):
		op := computes(by, p.inPlace, func(z []F, x [][]F) {
			kernel.Arithmetic(operation, z, x[0], x[1], p.reads)
		}).reading(p.in[:]...)
		op.sum = operation == kernel.Plus && len(p.inPlace) == 2
		return op
	case c.node.Dtype() == tensor.Bool && !c.node.Shape().IsScalar():
		return runs(by, nil, func(out G.Value, in []G.Value) {
			kernel.Compare(operation, bools(out), dense.Floats[F](in[0]), dense.Floats[F](in[1]), p.reads)
		}).reading(p.in[:]...)
	}
	return nil
}

func bools(v G.Value) []bool { return v.(*tensor.Dense).Bools() }

// A pair describes the inputs of an operation: which nodes are read and how, and which memory the op may overwrite.
type pair struct {
	in      [2]*G.Node
	reads   kernel.Broadcast
	inPlace []int
}

// pairOf returns the inputs in a form that can be read without repeating them. It reports whether they are numbers of
// type F whose shapes fit together and fit the node.
func pairOf[F kernel.Float](c call) (p pair, ok bool) {
	if !isFloat[F](c.in[0]) || !isFloat[F](c.in[1]) {
		return p, false
	}
	var shapes [2][]int
	repeated := false
	for i, n := range c.in {
		p.in[i], shapes[i] = c.spread(n)
		repeated = repeated || p.in[i] != n
		if p.in[i] == n && sameSize(n, c.node) {
			p.inPlace = append(p.inPlace, i)
		}
	}
	want := []int(c.node.Shape())
	if !repeated { // their sizes are equal, or one is 1: shapes do not matter
		for i, n := range c.in {
			shapes[i] = []int{n.Shape().TotalSize()}
		}
		want = []int{c.node.Shape().TotalSize()}
	}
	b, shape, ok := kernel.NewBroadcast(shapes[:]...)
	p.reads = b
	return p, ok && slices.Equal(shape, want)
}

// pow returns the op xʸ.
func pow[F kernel.Float](c call) *Op {
	n := c.node.Shape().TotalSize()
	stepX, stepY := min(1, c.in[0].Shape().TotalSize()-1), min(1, c.in[1].Shape().TotalSize()-1)
	var inPlace []int
	for i, x := range c.in {
		if !isFloat[F](x) || !isFloat[F](c.node) {
			return nil
		}
		switch x.Shape().TotalSize() {
		case n:
			inPlace = append(inPlace, i)
		case 1:
		default:
			return nil
		}
	}
	return loops(inPlace, n, loopGrain, func(z []F, in [][]F, lo, hi int) {
		var roomX, roomY [inFloat64]float64
		for ; lo < hi; lo += inFloat64 {
			x, y := widen(roomX[:], in[0][lo*stepX:(hi-1)*stepX+1]), widen(roomY[:], in[1][lo*stepY:(hi-1)*stepY+1])
			for i := range min(inFloat64, hi-lo) {
				z[lo+i] = F(math.Pow(x[i*stepX], y[i*stepY]))
			}
		}
	})
}
