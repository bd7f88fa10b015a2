package graph

import (
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/expr"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// MatMul returns the matrix product a·b (torch.matmul): a (…, M, N), b (…, N, P) with
// equal leading axes, or b (N, P) for every row of a; the result is (…, M, P).
func MatMul(a, b *G.Node) (*G.Node, error) { return FullPrecision.MatMul(a, b) }

// Scores returns q·kᵀ, (…, T, S): the product of each query (…, T, D) and each key (…, S, D), not scaled.
func Scores(q, k *G.Node) (*G.Node, error) { return FullPrecision.Scores(q, k) }

// Linear returns x·weightᵀ + bias (torch.nn.functional.linear): x (…, In), weight
// (Out, In), bias (Out) or nil; the result is (…, Out).
func Linear(x, weight, bias *G.Node) (*G.Node, error) { return FullPrecision.Linear(x, weight, bias) }

// rowProduct is y = x·W or x·Wᵀ, one matrix W for every row of x. It is an op because no other op multiplies all rows
// by one matrix, which may be stored in bfloat16.
type rowProduct[F kernel.Float] struct {
	operands
	TransW bool
}

func (o rowProduct[F]) spec() spec {
	name, args := "MatMul", []arg{{name: "a"}, {name: "b", stored: true}}
	if o.TransW {
		name, args = "Linear", []arg{{name: "x"}, {name: "weight", stored: true}}
	}
	return spec{name: name, args: args, spreads: true, precision: o.Precision}
}

func (o rowProduct[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	x, w := in[0], in[1]
	s := o.spec()
	if x.Dims() == 0 {
		return nil, &ShapeError{s.name, s.args[0].name, x, "(…, In)"}
	}
	inner, outer, want := 0, 1, "(N=%d, P)"
	if o.TransW {
		inner, outer, want = 1, 0, "(Out, In=%d)"
	}
	if w.Dims() != 2 || w[inner] != last(x) {
		return nil, &ShapeError{s.name, s.args[1].name, w, fmt.Sprintf(want, last(x))}
	}
	y := x.Clone()
	y[len(y)-1] = w[outer]
	return y, nil
}

func (o rowProduct[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	n, p := last(in[0].Shape()), last(out.Shape())
	m := out.Shape().TotalSize() / p
	kernel.Product[F]{M: m, N: p, K: n, Alpha: 1, A: kernel.Rows(dense.Floats[F](in[0]), n),
		B: weightMatrix[F](in[1]).Op(o.TransW), C: kernel.Rows(dense.Floats[F](out), p), Precision: o.kernel()}.Compute()
	return nil
}

// y = x·W: dx = dy·Wᵀ, dW = xᵀ·dy; y = x·Wᵀ: dx = dy·W, dW = dyᵀ·x. A W stored in bfloat16 has no gradient.
func (o rowProduct[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	left, right := in[0], dy
	if o.TransW {
		left, right = dy, in[0]
	}
	var f expr.Formula
	dx := f.Of(apply(rowProduct[F]{o.operands, !o.TransW}, dy, in[1]))
	if dense.IsStored(in[1].Dtype()) {
		return only(dx, f.Err())
	}
	dw := f.Of(apply(rowOuter[F]{o.operands}, left, right))
	return G.Nodes{dx, dw}, f.Err()
}

// rowOuter is C = Σ aᵀ·b (M, P) over all rows of a (…, M) and b (…, P). It is an op because no other op sums products
// over the rows of two matrices.
type rowOuter[F kernel.Float] struct{ operands }

func (rowOuter[F]) spec() spec { return spec{name: "RowOuter", args: named("a", "b")} }

func (rowOuter[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	return tensor.Shape{last(in[0]), last(in[1])}, nil
}

func (o rowOuter[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	m, p := out.Shape()[0], out.Shape()[1]
	rows := in[0].Shape().TotalSize() / m
	kernel.Product[F]{M: m, N: p, K: rows, Alpha: 1, A: kernel.Transposed(dense.Floats[F](in[0]), m),
		B: kernel.Rows(dense.Floats[F](in[1]), p), C: kernel.Rows(dense.Floats[F](out), p),
		Precision: o.kernel()}.Compute()
	return nil
}

// C = Σ aᵀ·b:  da = b·dCᵀ, db = a·dC.
func (o rowOuter[F]) backward(in G.Nodes, _, dc *G.Node) (G.Nodes, error) {
	var f expr.Formula
	da := f.Of(apply(rowProduct[F]{o.operands, true}, in[1], dc))
	db := f.Of(apply(rowProduct[F]{o.operands, false}, in[0], dc))
	return G.Nodes{da, db}, f.Err()
}

// batchProduct is op(a)·op(b) for each pair of matrices in the leading axes. It is an op because no other op multiplies
// matrices.
type batchProduct[F kernel.Float] struct {
	operands
	TransA, TransB bool
}

func (o batchProduct[F]) spec() spec {
	if o.TransB && !o.TransA {
		return spec{name: "Scores", args: named("q", "k"), precision: o.Precision}
	}
	return spec{name: "MatMul", args: named("a", "b"), precision: o.Precision}
}

func (o batchProduct[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	a, b := in[0], in[1]
	s := o.spec()
	axes, other := "(…, M, N)", "P"
	if s.name == "Scores" {
		axes, other = "(…, T, D)", "S"
	}
	if a.Dims() < 2 {
		return nil, &ShapeError{s.name, s.args[0].name, a, axes}
	}
	m, n := lastTwo(a, o.TransA)
	if b.Dims() == a.Dims() && slices.Equal(a[:a.Dims()-2], b[:b.Dims()-2]) {
		if nb, p := lastTwo(b, o.TransB); nb == n {
			return append(a[:a.Dims()-2].Clone(), m, p), nil
		}
	}
	want := append(a[:a.Dims()-2].Clone(), n, -1)
	if o.TransB {
		want = append(a[:a.Dims()-2].Clone(), -1, n)
	}
	return nil, &ShapeError{s.name, s.args[1].name, b, shapeWithAny(want, other)}
}

// lastTwo returns the rows and columns of op(x).
func lastTwo(s tensor.Shape, trans bool) (rows, cols int) {
	rows, cols = s[len(s)-2], s[len(s)-1]
	if trans {
		rows, cols = cols, rows
	}
	return rows, cols
}

func (o batchProduct[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	m, n := lastTwo(in[0].Shape(), o.TransA)
	p := last(out.Shape())
	batch := out.Shape().TotalSize() / (m * p)
	matrices := func(x *tensor.Dense, step int) kernel.Matrix[F] {
		return kernel.Rows(dense.Floats[F](x), last(x.Shape())).Every(step)
	}
	kernel.Product[F]{M: m, N: p, K: n, Alpha: 1, A: matrices(in[0], m*n).Op(o.TransA),
		B: matrices(in[1], n*p).Op(o.TransB), C: matrices(out, m*p), Batch: batch, Precision: o.kernel()}.Compute()
	return nil
}

// c = op(a)·op(b):  d op(a) = dc·op(b)ᵀ, d op(b) = op(a)ᵀ·dc.
func (o batchProduct[F]) backward(in G.Nodes, _, dc *G.Node) (G.Nodes, error) {
	var f expr.Formula
	product := func(transA, transB bool, a, b *G.Node) *G.Node {
		return f.Of(apply(batchProduct[F]{o.operands, transA, transB}, a, b))
	}
	a, b, d := in[0], in[1], make(G.Nodes, 2)
	if o.TransA {
		d[0] = product(o.TransB, true, b, dc)
	} else {
		d[0] = product(false, !o.TransB, dc, b)
	}
	if o.TransB {
		d[1] = product(true, o.TransA, dc, a)
	} else {
		d[1] = product(!o.TransA, false, a, dc)
	}
	return d, f.Err()
}
