package graph

import (
	"errors"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A body is one kind of op: its name, its shape rule, its forward and its backward. It
// is a plain struct whose fields are the op's settings; two equal bodies on equal inputs
// are one node. A body that computes has a type parameter F, the type of its numbers.
type body interface {
	// spec returns the op's name and its arguments.
	spec() (name string, args []arg)
	// shape checks the inputs' shapes and returns the output's.
	shape(in []tensor.Shape) (tensor.Shape, error)
	// forward fills out; inputs and output are contiguous and row-major.
	forward(out *tensor.Dense, in []*tensor.Dense) error
	// backward returns the gradients of the inputs, nil for one that is not differentiable. Those at the end may be
	// left out.
	backward(in G.Nodes, out, grad *G.Node) (G.Nodes, error)
}

// adder is a body that can add its result to what is there, instead of filling out.
type adder interface {
	addTo(sum *tensor.Dense, in []*tensor.Dense) error
}

type arg struct {
	name      string
	integer   bool // holds ids or keys
	fixed     bool // no gradient flows into it
	anyNumber bool // of one of mask.KeepTypes, whatever the types of the other arguments
	stored    bool // may be a weight stored as BF16 beside arguments of float32
}

// named returns differentiable arguments of these names.
func named(names ...string) []arg {
	args := make([]arg, len(names))
	for i, name := range names {
		args[i].name = name
	}
	return args
}

// The methods that most bodies share, to be embedded.
type (
	sameShape  struct{} // the output has the first input's shape
	intoFirst  struct{} // a machine may let the op compute into its first input's memory
	intoSecond struct{} // or into its second's
	isGradient struct{} // the op is the backward of another, and has none itself
	lastInput  struct{} // the output is the beginning of the last input
	passesNone struct{} // no gradient flows through the op
	indices    struct{} // the output is of int, and has no gradient
)

func (sameShape) shape(in []tensor.Shape) (tensor.Shape, error) { return in[0].Clone(), nil }

func (intoFirst) inPlace() []int { return []int{0} }

func (intoSecond) inPlace() []int { return []int{1} }

func (isGradient) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return nil, errNoSecond }

// outShape is the output's shape.
type outShape struct{ Out tensor.Shape }

func (o outShape) shape([]tensor.Shape) (tensor.Shape, error) { return o.Out.Clone(), nil }

func (indices) isIndices() {}

func (indices) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return nil, errNoGradient }

func (passesNone) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return nil, nil }

func (lastInput) view(inputs int) (input, from int) { return inputs - 1, 0 }

func (lastInput) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return copyFrom(out, in[len(in)-1], 0)
}

var (
	errNoSecond   = errors.New("a gradient has no derivative of its own here")
	errNoGradient = errors.New("indices have no gradient")
)

// only returns the gradients of an op whose first input alone has one.
func only(dx *G.Node, err error) (G.Nodes, error) { return G.Nodes{dx}, err }
