package stock

import (
	"slices"
	"strings"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
)

// product returns the op of one of Gorgonia's products: "A × B" of matrices, "A ××× B" of each pair of matrices in
// the leading axes, "A × b" of a matrix and a vector, "a ⊗ b" and "a ⋅ b" of vectors. The "ᵀ" of a matrix stands
// behind it.
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
	o := operand{n, []int{1, size}, []int{size, 1}}
	if column {
		o = o.turned()
	}
	return o
}

// matrices returns the op of a product, or of several, if what it reads fits together and the node's shape.
func matrices[F kernel.Float](c call, readings [2][]operand, transA, transB bool) *Op {
	var x [2]operand
	var trans [2]kernel.Transpose
	var apart [2]int
	for i, transposed := range []bool{transA, transB} {
		ok := false
		for _, x[i] = range readings[i] {
			if len(x[i].shape) < 2 {
				return nil
			}
			if transposed {
				x[i] = x[i].turned()
			}
			if trans[i], apart[i], ok = x[i].matrix(); ok {
				break
			}
		}
		if !ok {
			return nil
		}
	}
	a, b, at := x[0], x[1], len(x[0].shape)-2
	if len(b.shape) != at+2 || !slices.Equal(a.shape[:at], b.shape[:at]) || a.shape[at+1] != b.shape[at] {
		return nil
	}
	p := &products[F]{
		transA: trans[0], transB: trans[1], ldA: apart[0], ldB: apart[1],
		m: a.shape[at], k: a.shape[at+1], n: b.shape[at+1],
	}
	if p.batch(a, b)*p.m*p.n != c.node.Shape().TotalSize() {
		return nil
	}
	p.part = p.do
	return computes(Kernel, nil, p.run).reading(a.node, b.node)
}

// products is one product for each place of the leading axes.
type products[F kernel.Float] struct {
	transA, transB kernel.Transpose
	m, n, k        int
	ldA, ldB       int
	inner          level   // matrices that the kernel goes over itself
	outer          []level // around those, from the outermost
	count          int     // of all outer
	a, b, c        []F
	part           func(lo, hi int) // do, made once: a run allocates nothing
}

// A level is an axis along which products lie: their number, and the distances in the operands and the result.
type level struct{ n, a, b, c int }

// batch sets the levels from the leading axes and returns the number of products.
func (p *products[F]) batch(a, b operand) int {
	levels := []level{}
	step := p.m * p.n
	for i := len(a.shape) - 3; i >= 0; i-- {
		next := level{a.shape[i], a.steps[i], b.steps[i], step}
		step *= next.n
		if next.n == 1 {
			continue
		}
		if last := len(levels) - 1; last >= 0 {
			l := &levels[last]
			if next.a == l.a*l.n && next.b == l.b*l.n {
				l.n *= next.n
				continue
			}
		}
		levels = append(levels, next)
	}
	p.inner, p.count = level{n: 1}, 1
	if len(levels) > 0 {
		p.inner, p.outer = levels[0], levels[1:]
	}
	slices.Reverse(p.outer)
	for _, l := range p.outer {
		p.count *= l.n
	}
	return p.count * p.inner.n
}

// outerWork is the number of multiply-adds that are worth a goroutine.
const outerWork = 1 << 18

func (p *products[F]) run(out G.Value, in []G.Value) {
	p.a, p.b, p.c = floats[F](in[0]), floats[F](in[1]), floats[F](out)
	each := float64(p.m) * float64(p.n) * float64(p.k) * float64(p.inner.n)
	if each > 8*outerWork { // the kernel shares the work better
		p.do(0, p.count)
		return
	}
	kernel.Parallel(p.count, 1+int(outerWork/each), p.part)
}

// do computes the products of the places [lo,hi) of the outer axes.
func (p *products[F]) do(lo, hi int) {
	for i := lo; i < hi; i++ {
		atA, atB, rest := 0, 0, i
		for _, l := range slices.Backward(p.outer) {
			atA += rest % l.n * l.a
			atB += rest % l.n * l.b
			rest /= l.n
		}
		kernel.GemmStrided(p.inner.n, p.transA, p.transB, p.m, p.n, p.k,
			1, p.a[atA:], p.ldA, p.inner.a, p.b[atB:], p.ldB, p.inner.b,
			0, p.c[i*p.inner.n*p.m*p.n:], p.n, p.inner.c)
	}
}
