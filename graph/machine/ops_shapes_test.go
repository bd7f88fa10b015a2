package machine_test

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// broadcast is an op of two nodes; where one has an axis of several elements, the other has length 1 or no axis.
func broadcast(f func(x, y *G.Node, left, right []byte) (*G.Node, error)) drawer {
	return func(r *randomGraph) (*G.Node, error) {
		x := r.any()
		axes := r.axes(x)
		short, pattern := x.Shape().Clone(), []byte{}
		for _, a := range axes {
			short[a] = 1
			pattern = append(pattern, byte(a))
		}
		// A separate node, because Gorgonia gives a node that is broadcast twice gradients of two shapes.
		y := G.Must(G.HadamardProd(G.Must(G.Tanh(r.like(short))), r.number(1/float64(r.count()))))
		if rapid.Bool().Draw(r.t, "left") {
			return f(y, x, pattern, nil)
		}
		return f(x, y, nil, pattern)
	}
}

var broadcastOps = map[string]drawer{
	"BroadcastAdd":          broadcast(G.BroadcastAdd),
	"BroadcastSub":          broadcast(G.BroadcastSub),
	"BroadcastHadamardProd": broadcast(G.BroadcastHadamardProd),
	"BroadcastHadamardDiv": func(r *randomGraph) (*G.Node, error) {
		return broadcast(func(x, y *G.Node, left, right []byte) (*G.Node, error) {
			return G.BroadcastHadamardDiv(x, r.positive(y), left, right)
		})(r)
	},
}

// along is a reduction along some axes.
func along(f func(x *G.Node, along ...int) (*G.Node, error)) drawer {
	return func(r *randomGraph) (*G.Node, error) {
		x := r.any()
		return f(x, r.axes(x)...)
	}
}

var reductionOps = map[string]drawer{
	"Sum":  along(G.Sum),
	"Mean": along(G.Mean),
	"Max":  along(G.Max),
	"Sum of all": func(r *randomGraph) (*G.Node, error) {
		return G.Sum(r.any())
	},
	"SoftMax": func(r *randomGraph) (*G.Node, error) {
		x := r.any()
		return G.SoftMax(x, r.axis(x))
	},
	"LogSoftMax": func(r *randomGraph) (*G.Node, error) {
		x := r.any()
		return G.LogSoftMax(x, r.axis(x))
	},
}

var shapeOps = map[string]drawer{
	"Reshape": func(r *randomGraph) (*G.Node, error) {
		x := r.any()
		shape := rapid.Permutation(x.Shape()).Draw(r.t, "new shape")
		if len(shape) < 4 && rapid.Bool().Draw(r.t, "longer") {
			shape = append(tensor.Shape{1}, shape...)
		}
		return G.Reshape(x, shape)
	},
	"Ravel": func(r *randomGraph) (*G.Node, error) { return G.Ravel(r.any()) },
	"Transpose": func(r *randomGraph) (*G.Node, error) {
		x := r.rank(max(2, r.fewest), r.most)
		return G.Transpose(x, r.order(x)...)
	},
	"Flip": func(r *randomGraph) (*G.Node, error) { // a view of x, times x
		x := r.any()
		y, err := G.Reshape(x, x.Shape().Clone())
		if err != nil {
			return nil, err
		}
		return G.HadamardProd(G.Must(G.Tanh(x)), y)
	},
	"Concat": func(r *randomGraph) (*G.Node, error) {
		x := r.any()
		axis := r.axis(x)
		shape := x.Shape().Clone()
		shape[axis] = rapid.IntRange(1, 3).Draw(r.t, "length")
		return G.Concat(axis, x, r.like(shape), x)
	},
	"Slice": func(r *randomGraph) (*G.Node, error) {
		x := r.any()
		var parts []tensor.Slice
		for _, n := range x.Shape() {
			if rapid.Bool().Draw(r.t, "whole") || n < 2 {
				parts = append(parts, nil)
				continue
			}
			from := rapid.IntRange(0, n-1).Draw(r.t, "from")
			to, step := rapid.IntRange(from+1, n).Draw(r.t, "to"), 1
			if to-from == 4 { // otherwise Gorgonia computes wrong shapes for steps
				step = r.upTo(2)
			}
			parts = append(parts, G.S(from, to, step))
		}
		return G.Slice(x, parts...)
	},
	"At": func(r *randomGraph) (*G.Node, error) {
		x := r.any()
		var at []int
		for _, n := range x.Shape() {
			at = append(at, rapid.IntRange(0, n-1).Draw(r.t, "at"))
		}
		y, err := G.At(x, at...)
		r.wanted = append(r.wanted, y)
		return x, err // since Gorgonia has no gradient for the other input
	},
	"ByIndices": func(r *randomGraph) (*G.Node, error) {
		x := r.any()
		axis := r.axis(x)
		which := rapid.SliceOfN(rapid.IntRange(0, x.Shape()[axis]-1), 1, 5).Draw(r.t, "indices")
		return G.ByIndices(x, r.indices(which), axis)
	},
}

var productOps = map[string]drawer{
	"Mul": func(r *randomGraph) (*G.Node, error) {
		x := r.matrix()
		return G.Mul(x, r.partner(0, x.Shape()[1]))
	},
	"Mul, matrix and vector": func(r *randomGraph) (*G.Node, error) {
		x := r.matrix()
		return G.Mul(x, r.like(tensor.Shape{x.Shape()[1]}))
	},
	"Mul, vectors": func(r *randomGraph) (*G.Node, error) {
		x := r.of(1)
		return G.Mul(x, r.twin(x))
	},
	"OuterProd": func(r *randomGraph) (*G.Node, error) { // all of one length, otherwise Gorgonia builds no gradient
		x := r.of(1)
		return G.OuterProd(x, r.twin(x))
	},
	"Tensordot": func(r *randomGraph) (*G.Node, error) { // no axis of length 1, for which Gorgonia's op panics
		x, y := r.like(tensor.Shape{2, 3}), r.like(tensor.Shape{4, 3})
		return G.Tensordot([]int{1}, []int{1}, x, y)
	},
	"BatchedMatMul": func(r *randomGraph) (*G.Node, error) {
		x := r.rank(3, 4)
		first, second := rapid.Bool().Draw(r.t, "first transposed"), rapid.Bool().Draw(r.t, "second transposed")
		shape := x.Shape().Clone()
		m, k := len(shape)-2, len(shape)-1
		if first {
			m, k = k, m
		}
		inner, n := x.Shape()[k], rapid.IntRange(1, 3).Draw(r.t, "columns")
		shape[len(shape)-2], shape[len(shape)-1] = inner, n
		if second {
			shape[len(shape)-2], shape[len(shape)-1] = n, inner
		}
		return G.BatchedMatMul(x, r.like(shape), first, second)
	},
}

var imageOps = map[string]drawer{
	"Conv2d": func(r *randomGraph) (*G.Node, error) {
		x := r.of(4)
		size := tensor.Shape{r.upTo(3), r.upTo(3)}
		pad := []int{size[0] - 1, size[1] - 1} // so that every image is large enough
		filter := r.like(append(tensor.Shape{r.upTo(2), x.Shape()[1]}, size...))
		return G.Conv2d(x, filter, size, pad, []int{r.upTo(2), r.upTo(2)}, []int{1, 1})
	},
	"BatchNorm": func(r *randomGraph) (*G.Node, error) {
		x := r.of(4)
		each := tensor.Shape{1, x.Shape()[1], 1, 1}
		scale := G.Must(G.HadamardProd(G.Must(G.Tanh(r.like(each))), r.number(1/float64(r.count()))))
		shift := G.Must(G.HadamardProd(G.Must(G.Tanh(r.like(each))), r.number(1/float64(r.count()))))
		y, _, _, _, err := G.BatchNorm(x, scale, shift, 0.1, 0.1)
		return y, err
	},
	"MaxPool2D": func(r *randomGraph) (*G.Node, error) {
		x := r.of(4)
		size := tensor.Shape{r.upTo(3), r.upTo(3)}
		return G.MaxPool2D(x, size, []int{size[0] - 1, size[1] - 1}, []int{r.upTo(2), r.upTo(2)})
	},
}

// indices returns a node of integers.
func (r *randomGraph) indices(which []int) *G.Node {
	v := tensor.New(tensor.WithShape(len(which)), tensor.WithBacking(which))
	name := fmt.Sprintf("indices%d", r.count())
	return G.NewVector(r.g, tensor.Int, G.WithName(name), G.WithShape(len(which)), G.WithValue(v))
}
