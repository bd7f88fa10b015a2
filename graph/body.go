package graph

import (
	"errors"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A body is one kind of op: its name, its shape rule, its forward and its backward. It is a plain struct whose fields
// are the op's settings; two equal bodies on equal inputs are one node. A body that computes has a type parameter F,
// its type of numbers.
type body interface {
	// spec returns the op's name, its arguments and its traits.
	spec() spec
	// shape checks the inputs' shapes and returns the output's.
	shape(in []tensor.Shape) (tensor.Shape, error)
	// forward fills out; inputs and output are contiguous and row-major.
	forward(out *tensor.Dense, in []*tensor.Dense) error
	// backward returns the gradients of the inputs, nil for one that is not differentiable. Missing gradients at the end
	// count as nil.
	backward(in G.Nodes, out, grad *G.Node) (G.Nodes, error)
}

// A spec is an op's name, its arguments and its traits. Most ops have no trait.
type spec struct {
	name string
	args []arg

	inPlace       []int      // inputs whose memory a machine may let the op compute into
	view          *view      // the part of an input that is the result, so that no computation is needed
	integers      bool       // the result is of int, without a gradient
	precision     Precision  // of the op's products
	spreads       bool       // a NaN or an infinity in an input makes one in the result
	fillsInfinity bool       // infinities in the result are intended; a machine that looks for them skips the op
	checkpoint    bool       // the op marks a boundary of Checkpoint
	cache         *cacheBase // the cache that the op fills
	// scratch returns how many numbers the op needs as workspace behind its gradients.
	scratch func(in []tensor.Shape) int
	// room returns how many numbers of the result's type the op needs as workspace.
	room func(in []tensor.Shape) int
	// addTo adds the result to sum; forward overwrites its output.
	addTo func(sum *tensor.Dense, in []*tensor.Dense) error
}

// view is the part of an input that begins at an element. A negative number of the input counts from the last, −1.
type view struct{ input, from int }

// The input, the first or the second, whose memory a machine may reuse for the result.
var first, second = []int{0}, []int{1}

type arg struct {
	name      string
	integer   bool // holds ids or keys
	fixed     bool // no gradient flows into it
	anyNumber bool // has one of mask.KeepTypes, whatever the types of the other arguments
	stored    bool // may be a weight stored as BF16 beside arguments of float32
	// optional arguments may be nil: then the body's methods get nil in their place.
	optional bool
}

// differentiated reports whether a gradient flows into the argument.
func (a arg) differentiated() bool { return !a.integer && !a.fixed && !a.anyNumber }

// named returns differentiable arguments of these names.
func named(names ...string) []arg {
	args := make([]arg, len(names))
	for i, name := range names {
		args[i].name = name
	}
	return args
}

// fixed returns the arguments of an op that is not differentiated by them.
func fixed(args []arg) []arg {
	args = slices.Clone(args)
	for i := range args {
		args[i].fixed = true
	}
	return args
}

// Methods that most bodies share; bodies embed these types.
type (
	sameShape  struct{} // the output has the first input's shape
	isGradient struct{} // the op is the backward of another op, and has no backward itself
	lastInput  struct{} // the output is the first part of the last input
	passesNone struct{} // no gradient flows through the op
	indices    struct{} // the output is of int, which has no gradient
)

func (sameShape) shape(in []tensor.Shape) (tensor.Shape, error) { return in[0].Clone(), nil }

func (isGradient) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return nil, errNoSecond }

// outShape is the output's shape.
type outShape struct{ Out tensor.Shape }

func (o outShape) shape([]tensor.Shape) (tensor.Shape, error) { return o.Out.Clone(), nil }

func (indices) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return nil, errNoGradient }

func (passesNone) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return nil, nil }

func (lastInput) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return copyFrom(out, in[len(in)-1], 0)
}

var (
	errNoSecond   = errors.New("a gradient has no derivative of its own here")
	errNoGradient = errors.New("indices have no gradient")
)

// only returns the gradients of an op that has a gradient for its first input alone.
func only(dx *G.Node, err error) (G.Nodes, error) { return G.Nodes{dx}, err }
