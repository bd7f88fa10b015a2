package graph

import (
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A differentiable is the part of a body for which one op computes the gradients by several inputs. An op has one
// result, so the gradients are side by side in a vector, from which further ops cut the single gradients.
type differentiable[F kernel.Float] interface {
	spec() spec
	shape(in []tensor.Shape) (tensor.Shape, error)
	// gradients computes the gradients of the arguments that are differentiated, in their order, into parts of d. all is
	// the vector that a keeper's forward computed.
	gradients(d vector[F], in []*tensor.Dense, all vector[F], dy []F) error
}

// vector is a slice of numbers that is cut into parts from its beginning.
type vector[F kernel.Float] []F

// next returns the next n numbers.
func (v *vector[F]) next(n int) []F {
	part := (*v)[:n:n]
	*v = (*v)[n:]
	return part
}

// like returns the next numbers of the vector, as many as t has, or nil if t is nil.
func (v *vector[F]) like(t *tensor.Dense) []F {
	if t == nil {
		return nil
	}
	return v.next(t.Shape().TotalSize())
}

// floats returns the numbers of an input, or nil if there is no input.
func floats[F kernel.Float](in *tensor.Dense) []F {
	if in == nil {
		return nil
	}
	return dense.Floats[F](in)
}

// ints returns the integers of an input, or nil if there is no input.
func ints(in *tensor.Dense) []int64 {
	if in == nil {
		return nil
	}
	return dense.Ints(in)
}

// gradientsOf returns the gradients of a body's inputs from the gradient of its output.
func gradientsOf[F kernel.Float](of differentiable[F], in G.Nodes, dy *G.Node) (G.Nodes, error) {
	args := of.spec().args
	all, err := apply(gradients[F]{Of: of, Kept: len(in) > len(args)}, append(slices.Clone(in), dy)...)
	if err != nil {
		return nil, err
	}
	d, from := make(G.Nodes, len(in)), 0
	for i, a := range args {
		if in[i] == nil || !a.differentiated() {
			continue
		}
		if d[i], err = apply(segment{outShape: outShape{in[i].Shape()}, From: from}, all); err != nil {
			return nil, err
		}
		from += in[i].Shape().TotalSize()
	}
	return d, nil
}

// gradients is the op of the vector.
type gradients[F kernel.Float] struct {
	isGradient
	Of   differentiable[F]
	Kept bool // whether Of is a keeper
}

func (o gradients[F]) spec() spec {
	s := o.Of.spec()
	args := slices.Clone(s.args)
	if o.Kept {
		args = append(args, arg{name: "all"})
	}
	return spec{name: s.name + "Backward", args: append(args, arg{name: "dy"})}
}

func (o gradients[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	s, n := o.Of.spec(), 0
	for i, a := range s.args {
		if in[i] != nil && a.differentiated() {
			n += in[i].TotalSize()
		}
	}
	if s.scratch != nil {
		n += s.scratch(in)
	}
	return tensor.Shape{n}, nil
}

func (o gradients[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	n := len(in) - 1
	dy := dense.Floats[F](in[n])
	if !o.Kept {
		return o.Of.gradients(dense.Floats[F](out), in[:n], nil, dy)
	}
	return o.Of.gradients(dense.Floats[F](out), in[:n-1], dense.Floats[F](in[n-1]), dy)
}

// segment is the part of a vector that begins at From, as a tensor of a shape.
type segment struct {
	isGradient
	outShape
	From int
}

func (o segment) spec() spec {
	return spec{name: "Segment", args: named("x"), view: &view{from: o.From}}
}

func (o segment) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return copyFrom(out, in[0], o.From)
}

func copyFrom(out, in *tensor.Dense, from int) error {
	n := out.Shape().TotalSize()
	copy(dense.BytesOf(out, 0, n), dense.BytesOf(in, from, from+n))
	return nil
}

// A keeper is a body whose forward stores numbers for the backward, such as each row's mean and deviation. An op has
// one result, so a first op computes the output and these numbers into one vector. A second op returns the output from
// this vector; the second one is differentiated.
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
	isGradient // keptOutput is differentiated instead
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

// keptOutput returns the output from the vector. It is an op because a node of Gorgonia has one result.
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

// keptPart is the part of the vector that begins at From, behind the output. It is an op because a node of Gorgonia has
// one result.
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
