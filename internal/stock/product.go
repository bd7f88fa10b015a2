package stock

import (
	"fmt"
	"slices"
	"strings"

	"attention/internal/kernel"
	"attention/internal/parallel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// product returns the op of one of Gorgonia's products: "A × B" of matrices, "A ××× B" of each pair of matrices in the
// leading axes, "A × b" of a matrix and a vector, "a ⊗ b" and "a ⋅ b" of vectors. The "ᵀ" of a matrix follows it.
func product[F kernel.Float](c call) *Op {
	a, b := c.in[0], c.in[1]
	if !isFloat[F](b) {
		return nil
	}
	transA, transB := strings.HasPrefix(c.text, "Aᵀ"), strings.HasSuffix(c.text, "Bᵀ")
	switch strings.ReplaceAll(c.text, "ᵀ", "") {
	case "A × B", "A ××× B":
		return matrices[F](c, [2][]operand{c.readings(a), c.readings(b)}, transA, transB)
	case "A × b":
		return matrices[F](c, [2][]operand{c.readings(a), {vector(b, true)}}, transA, false)
	case "a ⊗ b":
		return matrices[F](c, [2][]operand{{vector(a, true)}, {vector(b, false)}}, false, false)
	case "a ⋅ b":
		return dot[F](c)
	}
	return nil
}

// readings returns the ways in which a matrix may be read, the best first.
func (c call) readings(n *G.Node) []operand { return []operand{c.strided(n), stored(n)} }

// vector returns a vector of any shape as a matrix of one column, or of one row.
func vector(n *G.Node, column bool) operand {
	size := n.Shape().TotalSize()
	o := operand{n, []int{1, size}, []int{size, 1}, 1}
	if column {
		o = o.turned()
	}
	return o
}

// matrices returns the op of a product, or of several, if the shapes of its operands fit together and fit the node's
// shape.
func matrices[F kernel.Float](c call, readings [2][]operand, transA, transB bool) *Op {
	var x [2]operand
	p := &products[F]{}
	for i, transposed := range []bool{transA, transB} {
		ok := false
		for _, x[i] = range readings[i] {
			if len(x[i].shape) < 2 {
				return nil
			}
			if transposed {
				x[i] = x[i].turned()
			}
			if p.trans[i], p.stride[i], ok = x[i].matrix(); ok {
				break
			}
		}
		if !ok {
			return nil
		}
	}
	p.x = x
	a, b, at := x[0], x[1], len(x[0].shape)-2
	if len(b.shape) != at+2 || !slices.Equal(a.shape[:at], b.shape[:at]) || a.shape[at+1] != b.shape[at] {
		return nil
	}
	p.m, p.k, p.n = a.shape[at], a.shape[at+1], b.shape[at+1]
	shape := append(slices.Clone(a.shape[:at]), p.m, p.n)
	if tensor.Shape(shape).TotalSize() != c.node.Shape().TotalSize() || !p.into(inRows(shape), 1) {
		return nil
	}
	p.part = p.do
	op := computes(Kernel, nil, p.run).reading(a.node, b.node)
	op.into = p.into
	return op
}

// products describes one product for each position in the leading axes.
type products[F kernel.Float] struct {
	x        [2]operand
	trans    [2]bool
	stride   [2]int // the distances between the rows of the operands
	m, n, k  int
	alpha    F
	rowApart int     // the distance between the rows of the result
	inner    level   // axes that the kernel processes itself
	outer    []level // axes around those, from the outermost
	count    int     // of all outer
	a, b, c  []F
	part     func(lo, hi int) // do, made once: a run allocates nothing
}

// A level is an axis of several products: their number, and their distances in the operands and the result.
type level struct{ n, a, b, c int }

// into sets the memory layout of the result, and a factor of it. It reports whether the kernel supports them.
func (p *products[F]) into(result operand, factor float64) bool {
	a, b, last := p.x[0], p.x[1], len(result.shape)-1
	p.alpha, p.rowApart = F(factor*a.factor*b.factor), p.n
	if p.m > 1 {
		p.rowApart = result.steps[last-1]
	}
	if p.n > 1 && result.steps[last] != 1 || p.rowApart < p.n {
		return false
	}
	levels := []level{}
	for i := len(a.shape) - 3; i >= 0; i-- {
		next := level{a.shape[i], a.steps[i], b.steps[i], result.steps[i]}
		if next.n == 1 {
			continue
		}
		if last := len(levels) - 1; last >= 0 {
			l := &levels[last]
			if next.a == l.a*l.n && next.b == l.b*l.n && next.c == l.c*l.n {
				l.n *= next.n
				continue
			}
		}
		levels = append(levels, next)
	}
	p.inner, p.outer, p.count = level{n: 1}, nil, 1
	if len(levels) > 0 {
		p.inner, p.outer = levels[0], levels[1:]
	}
	slices.Reverse(p.outer)
	for _, l := range p.outer {
		p.count *= l.n
	}
	return true
}

// outerWork is the number of multiply-adds that are worth a goroutine.
const outerWork = 1 << 18

func (p *products[F]) run(c []F, in [][]F) {
	p.a, p.b, p.c = in[0], in[1], c
	each := float64(p.m) * float64(p.n) * float64(p.k) * float64(p.inner.n)
	if each > 8*outerWork { // the kernel divides the work better
		p.do(0, p.count)
	} else {
		parallel.For(p.count, 1+int(outerWork/each), p.part)
	}
	p.a, p.b, p.c = nil, nil, nil
}

// do computes the products of the places [lo,hi) of the outer axes.
func (p *products[F]) do(lo, hi int) {
	for i := lo; i < hi; i++ {
		atA, atB, atC, rest := 0, 0, 0, i
		for _, l := range slices.Backward(p.outer) {
			atA += rest % l.n * l.a
			atB += rest % l.n * l.b
			atC += rest % l.n * l.c
			rest /= l.n
		}
		kernel.Product[F]{
			M: p.m, N: p.n, K: p.k, Alpha: p.alpha,
			A: kernel.Rows(p.a[atA:], p.stride[0]).Op(p.trans[0]).Every(p.inner.a),
			B: kernel.Rows(p.b[atB:], p.stride[1]).Op(p.trans[1]).Every(p.inner.b),
			C: kernel.Rows(p.c[atC:], p.rowApart).Every(p.inner.c), Batch: p.inner.n,
		}.Compute()
	}
}

// productInto returns the op of a product whose result is multiplied by a factor and written in the layout of an
// operand; nil if the node is not a product, or if other nodes need its own value.
func productInto[F kernel.Float](c call, n *G.Node, result operand, factor float64) *Op {
	if n.Op() == nil || fmt.Sprintf("%T", n.Op()) != "gorgonia.linAlgBinOp" || !c.OnlyOneReads(n) {
		return nil
	}
	op := product[F](callOf(n, c.Graph))
	if op == nil || op.into == nil || len(result.shape) < 2 || !op.into(result, factor) {
		return nil
	}
	return op
}
