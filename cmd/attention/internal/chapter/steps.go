package chapter

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// This file has the steps for which package graph has no function, in Gorgonia's own ops.

// input makes an input of the page's graph and binds its value.
func (p *page) input(name string, value *tensor.Dense) *G.Node {
	n := p.Of(p.build.InputOf(value.Dtype(), name, value.Shape()...), p.build.Err())
	return p.Of(n, G.Let(n, value))
}

// row is x[i], without the axis that it is taken from.
func (p *page) row(x *G.Node, i int) *G.Node {
	return p.Of(G.Slice(x, G.S(i)))
}

// sum adds up x over some axes, or over all (torch.sum).
func (p *page) sum(x *G.Node, axes ...int) *G.Node {
	return p.Of(G.Sum(x, axes...))
}

// reshape is x with its elements in another shape (torch.Tensor.view).
func (p *page) reshape(x *G.Node, shape ...int) *G.Node {
	return p.Of(G.Reshape(x, shape))
}

// twice is the batch (2, T, E) of a sequence x (T, E) and itself (torch.stack((x, x))).
func (p *page) twice(x *G.Node) *G.Node {
	if p.Err() != nil {
		return x
	}
	return p.reshape(p.Of(G.Concat(0, x, x)), 2, x.Shape()[0], x.Shape()[1])
}

// length is √Σx² over all elements of x. It sums a matrix row by row: one float32 that runs through the 589,824
// elements of GPT-2's matrices ends up wrong by one in 10,000.
func (p *page) length(x *G.Node) *G.Node {
	squares := p.Of(G.Square(x))
	if x.Dims() == 2 {
		squares = p.sum(squares, 1)
	}
	return p.Of(G.Sqrt(p.sum(squares)))
}

// dense is a tensor of the page's type.
func (p *page) dense(values []float64, shape ...int) *tensor.Dense {
	if p.params.Dtype() == tensor.Float64 {
		return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(values))
	}
	narrow := make([]float32, len(values))
	for i, v := range values {
		narrow[i] = float32(v)
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(narrow))
}

// ones is a tensor of ones, of the page's type.
func (p *page) ones(shape ...int) *tensor.Dense { return tensor.Ones(p.params.Dtype(), shape...) }

// withoutHeads is weights (1, T, S) of one head without its axis.
func (p *page) withoutHeads(weights *G.Node) *G.Node { return p.Of(graph.MergeHeads(weights)) }
