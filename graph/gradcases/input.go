package gradcases

import (
	"math/rand/v2"

	"attention/graph"
	"attention/internal/dense"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Input is one input of a case. With only a name and a shape it has random values between
// −1 and 1, and the check differentiates with respect to it.
type Input struct {
	Name     string
	Shape    tensor.Shape // nil is a scalar
	IDs      []int        // the values of an integer input: ids, lengths, positions, a dropout key
	Floats   []float64    // the values of a constant
	Positive bool         // whether the random values are between ½ and 3/2
	Constant bool         // whether the random values have no gradient
}

// Float returns an input to differentiate with respect to.
func Float(name string, shape ...int) Input { return Input{Name: name, Shape: shape} }

// Fixed returns a constant input with these values.
func Fixed(name string, values []float64, shape ...int) Input {
	return Input{Name: name, Shape: shape, Floats: values}
}

// IDs returns an integer input.
func IDs(name string, ids []int, shape ...int) Input {
	return Input{Name: name, Shape: shape, IDs: ids}
}

// DropoutKey is the key of every dropout in the cases. Its masks keep some elements and
// drop others.
const DropoutKey = 3

// Key returns a dropout key.
func Key() Input { return IDs("key", []int{DropoutKey}) }

// Nodes returns the nodes of inputs, and wrt, those to differentiate with respect to. The values are the same, and
// exact, in float32 and float64. A node of wrt is doubled first, so that the input of the op is an intermediate value,
// as in a model: the machine plans its memory and lets ops overwrite it.
func Nodes(g *G.ExprGraph, dt tensor.Dtype, r *rand.Rand, inputs []Input) (in, wrt G.Nodes, err error) {
	for _, i := range inputs {
		n := i.node(g, dt, r)
		if i.differentiable() {
			wrt = append(wrt, n)
			if n, err = graph.Scale(n, 2); err != nil {
				return nil, nil, err
			}
		}
		in = append(in, n)
	}
	return in, wrt, nil
}

func (i Input) differentiable() bool { return i.IDs == nil && i.Floats == nil && !i.Constant }

func (i Input) node(g *G.ExprGraph, dt tensor.Dtype, r *rand.Rand) *G.Node {
	if i.IDs != nil {
		if i.Shape.Dims() == 0 {
			return G.NewScalar(g, tensor.Int, G.WithName(i.Name), G.WithValue(i.IDs[0]))
		}
		return i.tensor(g, tensor.New(tensor.WithShape(i.Shape...), tensor.WithBacking(i.IDs)))
	}
	values := i.Floats
	switch n := i.Shape.TotalSize(); {
	case values != nil:
	case i.Positive:
		values = draw(r, 0.5, 1.5, n)
	default:
		values = draw(r, -1, 1, n)
	}
	return i.tensor(g, dense.Of(dt, values, i.Shape...))
}

func (i Input) tensor(g *G.ExprGraph, v *tensor.Dense) *G.Node {
	return G.NewTensor(g, v.Dtype(), v.Dims(), G.WithShape(v.Shape()...), G.WithName(i.Name), G.WithValue(v))
}

// Draw returns a tensor of random values between lo and hi. They are the same, and exact,
// in float32 and float64.
func Draw(dt tensor.Dtype, r *rand.Rand, lo, hi float64, shape tensor.Shape) *tensor.Dense {
	return dense.Of(dt, draw(r, lo, hi, shape.TotalSize()), shape...)
}

func draw(r *rand.Rand, lo, hi float64, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(float32(lo + (hi-lo)*r.Float64()))
	}
	return values
}
