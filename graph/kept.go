package graph

import (
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A keeper is a body whose forward keeps numbers for the backward, as each row's mean and deviation. One op has one
// result: a first op computes the output and then these numbers into one vector, a second takes the output out of it
// and is the one that is differentiated.
type keeper[F kernel.Float] interface {
	differentiable[F]
	// keeps returns how many numbers follow the output.
	keeps(in []tensor.Shape) int
	// compute fills the vector.
	compute(all vector[F], in []*tensor.Dense) error
}

// applyKept applies the keeper for the type of the first argument of floats. It returns the output and the vector.
func applyKept(f32 keeper[float32], f64 keeper[float64], in ...*G.Node) (out, all *G.Node, err error) {
	all, err = applyTyped(keeping[float32]{Of: f32}, keeping[float64]{Of: f64}, in...)
	if err != nil {
		return nil, nil, err
	}
	out, err = applyTyped(keptOutput[float32]{Of: f32}, keptOutput[float64]{Of: f64}, append(slices.Clone(in), all)...)
	return out, all, err
}

// keeping computes the vector.
type keeping[F kernel.Float] struct {
	isGradient // the output is differentiated instead
	Of         keeper[F]
}

func (o keeping[F]) spec() spec {
	s := o.Of.spec()
	s.args = fixed(s.args)
	return s
}

func (o keeping[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	out, err := o.Of.shape(in)
	if err != nil {
		return nil, err
	}
	return tensor.Shape{out.TotalSize() + o.Of.keeps(in)}, nil
}

func (o keeping[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return o.Of.compute(dense.Floats[F](out), in)
}

// keptOutput takes the output out of the vector.
type keptOutput[F kernel.Float] struct {
	lastInput
	Of keeper[F]
}

func (o keptOutput[F]) spec() spec {
	s := o.Of.spec()
	return spec{name: s.name, args: append(slices.Clone(s.args), arg{name: "all", fixed: true}), view: &view{input: -1}}
}

func (o keptOutput[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	return o.Of.shape(in[:len(in)-1])
}

func (o keptOutput[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	return gradientsOf[F](o.Of, in, dy)
}

// keptPart is a part of the vector behind the output, which begins at From.
type keptPart struct {
	passesNone
	outShape
	Name          string
	From          int
	FillsInfinity bool
}

func (o keptPart) spec() spec {
	return spec{name: o.Name, args: fixed(named("all")), view: &view{from: o.From}, fillsInfinity: o.FillsInfinity}
}

func (o keptPart) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return copyFrom(out, in[0], o.From)
}
