package layers

import (
	"cmp"
	"fmt"
	"slices"

	"attention/graph"
	"attention/internal/dense"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A formula builds the graph of one call of a layer. It keeps the first error.
type formula struct {
	expr.Formula
	b      *Build
	name   string // name of the layer in errors
	where  string // path of the layer in its stages
	broken error  // error of a build that has failed
}

// begin returns the formula of a call of the layer called name. If the build has failed, so has the formula.
func begin(b *Build, name string) *formula {
	f := &formula{name: name}
	if f.b, f.broken = usable(b); f.broken != nil {
		f.fail(f.broken)
	}
	return f
}

// result returns the formula's last node, or nil and the first error, in the layer's name.
func (f *formula) result(n *G.Node) (*G.Node, error) {
	if f.Err() != nil {
		return nil, f.failure()
	}
	return n, nil
}

// failure returns the first error. An error of a step gets the layer's name; the build's own errors do not.
func (f *formula) failure() error { return cmp.Or(f.broken, inLayer(f.name, f.Err())) }

// fail records an error and returns false.
func (f *formula) fail(err error) bool {
	f.Of(nil, err)
	return false
}

// node returns the node of a parameter.
func (f *formula) node(p Param) *G.Node { return f.Of(f.b.node(p)) }

// optional returns the node of a parameter, or nil if the layer does not have it.
func (f *formula) optional(p Param) *G.Node {
	if p == (Param{}) {
		return nil
	}
	return f.node(p)
}

// linear returns x·weightᵀ + bias, or x·weight + bias if transposed, plus the output of the weight's adapter. The zero
// Param as bias means none.
func (f *formula) linear(x *G.Node, weight, bias Param, transposed bool) *G.Node {
	return f.adapted(f.product(x, f.node(weight), f.optional(bias), transposed), x, weight)
}

// product is linear of nodes.
func (f *formula) product(x, weight, bias *G.Node, transposed bool) *G.Node {
	if !transposed {
		return f.Of(f.b.precision.Linear(x, weight, bias))
	}
	y := f.Of(f.b.precision.MatMul(x, weight))
	if bias != nil {
		y = f.Of(graph.Add(y, bias))
	}
	return y
}

// split splits x along its last axis into parts of these widths.
func (f *formula) split(x *G.Node, widths ...int) G.Nodes {
	parts, err := graph.Split(x, widths...)
	if err != nil {
		parts = make(G.Nodes, len(widths))
	}
	for i, n := range parts {
		parts[i] = f.Of(n, err)
	}
	return parts
}

// gradientsAlong returns the config of a loss of a product with a weight: in a Train graph the
// loss computes the gradients of the factors that are trained.
func (f *formula) gradientsAlong(weight Param) (c graph.LinearCrossEntropyConfig) {
	c.Precision = f.b.precision
	if f.b.Mode() == Train {
		_, adapted := f.b.params.adapters[weight.name]
		c.WithX, c.WithWeight = len(f.b.Learnables()) > 0, adapted || !f.b.params.Frozen(weight.name)
	}
	return c
}

// crossEntropy returns the mean cross entropy of logits (…, V) for targets (…).
func (f *formula) crossEntropy(logits, targets *G.Node) (*G.Node, error) {
	return f.result(f.Of(graph.CrossEntropy(logits, targets, graph.CrossEntropyConfig{})))
}

// filled returns a constant tensor whose elements are one number.
func (f *formula) filled(v float64, shape ...int) *G.Node {
	return f.constant(fmt.Sprint("all ", v), slices.Repeat([]float64{v}, tensor.Shape(shape).TotalSize()), shape...)
}

// constant returns a node with these values. Constants with equal name and shape must have equal values.
func (f *formula) constant(name string, values []float64, shape ...int) *G.Node {
	return constantIn(f.b.graph, name, dense.Of(f.b.params.Dtype(), values, shape...))
}

func constantIn(g *G.ExprGraph, name string, v *tensor.Dense) *G.Node {
	return G.NewTensor(g, v.Dtype(), v.Dims(), G.WithShape(v.Shape()...), G.WithValue(v),
		G.WithName(fmt.Sprintf("constant %s %v", name, v.Shape())))
}

// dropout drops elements of x with probability p, in a Train graph.
func (f *formula) dropout(x *G.Node, p float64) *G.Node {
	return f.Of(graph.Dropout(x, f.b.Drop(p)))
}

// isNode reports whether x is not nil, and fails otherwise. After an error of the build it fails with that error,
// because x may be a placeholder for a missing node.
func (f *formula) isNode(arg string, x *G.Node) bool {
	switch {
	case f.Err() != nil:
		return false
	case f.b.Err() != nil:
		return f.fail(f.b.Err())
	case x == nil:
		return f.fail(errorf(f.name, "%s: got nil, want a node", arg))
	}
	return true
}

// isSequence fails unless x is a sequence (T, in) or (B, T, in) of the build's type, with T at most maxT, a
// ContextLength; 0 means no limit.
func (f *formula) isSequence(arg string, x *G.Node, in, maxT int) bool {
	if !f.isNode(arg, x) {
		return false
	}
	want := "([B,] T"
	if arg == "key" || arg == "value" {
		want = "([B,] S"
	}
	if maxT > 0 {
		want += fmt.Sprintf(" <= ContextLength=%d", maxT)
	}
	s := x.Shape()
	n := s.Dims()
	if n != 2 && n != 3 || s[n-1] != in || maxT > 0 && s[n-2] > maxT {
		return f.fail(errorf(f.name, "%s: shape %v, want %s, %d)", arg, s, want, in))
	}
	return f.isOfParams(arg, x)
}

// isOfParams fails for a node of another type than the parameters'.
func (f *formula) isOfParams(arg string, x *G.Node) bool {
	if dt := f.b.Params().Dtype(); x.Dtype() != dt {
		return f.fail(errorf(f.name, "%s: got %v, want %v as the parameters", arg, x.Dtype(), dt))
	}
	return true
}

// isIDs fails unless the node holds ids (T) or (B, T), with T at most maxT, a ContextLength.
func (f *formula) isIDs(arg string, ids *G.Node, maxT int) bool {
	if !f.isNode(arg, ids) {
		return false
	}
	if n := len(ids.Shape()); n < 1 || n > 2 || last(ids) > maxT {
		return f.fail(errorf(f.name, "%s: shape %v, want ([B,] T <= ContextLength=%d)", arg, ids.Shape(), maxT))
	}
	if dt := ids.Dtype(); dt != tensor.Int && dt != tensor.Int64 {
		return f.fail(errorf(f.name, "%s: got %v, want int or int64", arg, dt))
	}
	return true
}

// length returns the T of (…, T, E).
func length(x *G.Node) int { return x.Shape()[x.Dims()-2] }

// last returns the length of a node's last axis.
func last(x *G.Node) int { return x.Shape()[x.Dims()-1] }
