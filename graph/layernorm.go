package graph

import (
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// LayerNorm returns (x − mean)/√(variance + eps)⊙weight + bias over the last axis (Ba,
// Kiros and Hinton 2016; torch.nn.functional.layer_norm): x (…, E), weight (E), bias (E)
// or nil for none. The variance is the mean of (x − mean)². eps is above 0; torch's is
// 1e-5.
func LayerNorm(x, weight, bias *G.Node, eps float64) (*G.Node, error) {
	o, in := layerNorm{Bias: bias != nil, Eps: eps}, G.Nodes{x, weight}
	if o.Bias {
		in = append(in, bias)
	}
	// One op has one result, but the backward needs each row's mean and deviation too:
	// the first op computes all into one vector, the second takes y out of it and is
	// the one that is differentiated.
	all, err := applyNorm(layerNormForward[float32]{layerNorm: o}, layerNormForward[float64]{layerNorm: o}, eps, in...)
	if err != nil {
		return nil, err
	}
	return apply(layerNormOutput{layerNorm: o}, append(in, all)...)
}

// layerNorm is the settings of the ops of one LayerNorm.
type layerNorm struct {
	Bias bool
	Eps  float64
}

// args returns x, weight and, if there is one, bias, then more.
func (o layerNorm) args(fixed bool, more ...arg) []arg {
	args := []arg{{name: "x", fixed: fixed}, {name: "weight", fixed: fixed}}
	if o.Bias {
		args = append(args, arg{name: "bias", fixed: fixed})
	}
	return append(args, more...)
}

// biasOf returns the bias among the inputs, or nil.
func biasOf[F kernel.Float](o layerNorm, in []*tensor.Dense) []F {
	if o.Bias {
		return dense.Floats[F](in[2])
	}
	return nil
}

// layerNormForward computes y, then each row's mean, then each row's
// 1/√(variance + eps), one after the other in a vector.
type layerNormForward[F kernel.Float] struct {
	isGradient
	layerNorm
}

func (o layerNormForward[F]) spec() spec { return spec{name: "LayerNorm", args: o.args(true)} }

func (o layerNormForward[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	x := in[0]
	if x.Dims() == 0 {
		return nil, &ShapeError{"LayerNorm", "x", x, "(…, E)"}
	}
	for i, a := range o.args(true)[1:] {
		if s := in[i+1]; s.Dims() != 1 || s[0] != last(x) {
			return nil, &ShapeError{"LayerNorm", a.name, s, fmt.Sprintf("(E=%d)", last(x))}
		}
	}
	n := x.TotalSize()
	return tensor.Shape{n + 2*n/last(x)}, nil
}

func (o layerNormForward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	x, cols := dense.Floats[F](in[0]), last(in[0].Shape())
	y, mean, rstd := layerNormParts(dense.Floats[F](out), len(x), cols)
	kernel.LayerNorm(y, mean, rstd, x, dense.Floats[F](in[1]), biasOf[F](o.layerNorm, in), cols, o.Eps)
	return nil
}

// layerNormParts splits what layerNormForward computed for x of n elements.
func layerNormParts[F kernel.Float](all []F, n, cols int) (y, mean, rstd []F) {
	rows := n / cols
	return all[:n], all[n : n+rows], all[n+rows:]
}

// layerNormOutput takes y from what layerNormForward computed.
type layerNormOutput struct {
	sameShape
	lastInput
	layerNorm
}

func (o layerNormOutput) spec() spec {
	return spec{name: "LayerNorm", args: o.args(false, arg{name: "all", fixed: true}), view: &view{input: -1}}
}

// With rstd = 1/√(variance + eps), x̂ = (x − mean)·rstd, y = x̂⊙weight + bias and
// g = dy⊙weight:  dx = rstd·(g − mean(g) − x̂·mean(g⊙x̂)), dweight = Σ dy⊙x̂,
// dbias = Σ dy.
func (o layerNormOutput) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	l, with := o.layerNorm, append(slices.Clone(in), dy)
	grads, err := applyTyped(layerNormBackward[float32]{layerNorm: l}, layerNormBackward[float64]{layerNorm: l},
		with...)
	if err != nil {
		return nil, err
	}
	of := slices.Clone(in)
	of[len(of)-1] = nil
	return unpack(grads, of)
}

// layerNormBackward computes dx, dweight and dbias, one after the other in a vector.
type layerNormBackward[F kernel.Float] struct {
	isGradient
	layerNorm
}

func (o layerNormBackward[F]) spec() spec {
	return spec{name: "LayerNormBackward", args: o.args(false, arg{name: "all"}, arg{name: "dy"})}
}

func (o layerNormBackward[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	n := 0
	for _, s := range in[:len(in)-2] {
		n += s.TotalSize()
	}
	return tensor.Shape{n}, nil
}

func (o layerNormBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	x, weight, grads := dense.Floats[F](in[0]), dense.Floats[F](in[1]), dense.Floats[F](out)
	all, dy := dense.Floats[F](in[len(in)-2]), dense.Floats[F](in[len(in)-1])
	n, cols := len(x), len(weight)
	_, mean, rstd := layerNormParts(all, n, cols)
	var dbias []F
	if o.Bias {
		dbias = grads[n+cols:]
	}
	kernel.LayerNormBackward(grads[:n], grads[n:n+cols], dbias, dy, x, weight, mean, rstd, cols)
	return nil
}
