package graph

import (
	"fmt"
	"math"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// RMSNorm returns x/√(mean(x²) + eps)⊙weight (Zhang and Sennrich 2019; torch.nn.RMSNorm):
// x (…, n·D), weight (D). Each run of D elements of the last axis is normalised
// alone: with n = 1 the whole axis, with n = H each head of (…, T, H·D). eps is
// above 0; 1e-5 and 1e-6 are usual.
func RMSNorm(x, weight *G.Node, eps float64) (*G.Node, error) {
	return applyRootNorm("RMSNorm", x, weight, eps)
}

// L2Norm returns x/max(‖x‖₂, eps)⊙weight (torch.nn.functional.normalize, times a gain):
// x (…, n·D), weight (D). Each run of D elements of the last axis is normalised
// alone, as in RMSNorm. eps is above 0; torch's is 1e-12.
func L2Norm(x, weight *G.Node, eps float64) (*G.Node, error) {
	return applyRootNorm("L2Norm", x, weight, eps)
}

func applyRootNorm(name string, x, weight *G.Node, eps float64) (*G.Node, error) {
	if err := checkEps(name, eps); err != nil {
		return nil, err
	}
	return applyTyped(rootNorm[float32]{Name: name, Eps: eps}, rootNorm[float64]{Name: name, Eps: eps}, x, weight)
}

// checkEps checks eps, which prevents a division by 0.
func checkEps(op string, eps float64) error {
	if !(eps > 0) || math.IsInf(eps, 1) {
		return fmt.Errorf("graph: %s: eps: got %v, want a finite number above 0", op, eps)
	}
	return nil
}

// rootNorm is RMSNorm or L2Norm. It is an op because no other op takes a square root.
type rootNorm[F kernel.Float] struct {
	Name string
	Eps  float64
}

func (o rootNorm[F]) spec() spec {
	return spec{name: o.Name, args: named("x", "weight"), inPlace: first}
}

func (o rootNorm[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	x, weight := in[0], in[1]
	if weight.Dims() != 1 {
		return nil, &ShapeError{o.Name, "weight", weight, "(D)"}
	}
	if x.Dims() == 0 || last(x)%weight[0] != 0 {
		return nil, &ShapeError{o.Name, "x", x, fmt.Sprintf("(…, n·D) with D=%d", weight[0])}
	}
	return x.Clone(), nil
}

func (o rootNorm[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.NormByRoot(dense.Floats[F](out), dense.Floats[F](in[0]), dense.Floats[F](in[1]), o.rule())
	return nil
}

func (o rootNorm[F]) rule() kernel.RootNorm {
	return kernel.RootNorm{ByLength: o.Name == "L2Norm", Eps: o.Eps}
}

func (o rootNorm[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	return gradientsOf[F](o, in, dy)
}

// y = x·r⊙weight, g = dy⊙weight, n = D for RMSNorm and 1 for L2Norm:
// dx = r·(g − x·r²·Σ(g⊙x)/n), dweight = Σ dy⊙x·r; where ‖x‖ < eps, r is constant
// and dx = r·g.
func (o rootNorm[F]) gradients(d vector[F], in []*tensor.Dense, _ vector[F], dy []F) error {
	x, weight := dense.Floats[F](in[0]), dense.Floats[F](in[1])
	kernel.NormByRootBackward(d.like(in[0]), d.like(in[1]), dy, x, weight, o.rule())
	return nil
}

// LayerNorm returns (x − mean)/√(variance + eps)⊙weight + bias over the last axis (Ba,
// Kiros and Hinton 2016; torch.nn.functional.layer_norm): x (…, E), weight (E), bias (E)
// or nil for none. The variance is the mean of (x − mean)². eps is above 0; torch's is
// 1e-5.
func LayerNorm(x, weight, bias *G.Node, eps float64) (*G.Node, error) {
	if err := checkEps("LayerNorm", eps); err != nil {
		return nil, err
	}
	y, _, err := applyKept(layerNorm[float32]{eps}, layerNorm[float64]{eps}, x, weight, bias)
	return y, err
}

// layerNorm stores each row's mean, then each row's 1/√(variance + eps), for the backward. It is an op because no other
// op takes a square root.
type layerNorm[F kernel.Float] struct{ Eps float64 }

func (layerNorm[F]) spec() spec {
	return spec{name: "LayerNorm", args: []arg{{name: "x"}, {name: "weight"}, {name: "bias", optional: true}}}
}

func (o layerNorm[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	x := in[0]
	if x.Dims() == 0 {
		return nil, &ShapeError{"LayerNorm", "x", x, "(…, E)"}
	}
	for i, a := range o.spec().args[1:] {
		if s := in[i+1]; s != nil && (s.Dims() != 1 || s[0] != last(x)) {
			return nil, &ShapeError{"LayerNorm", a.name, s, fmt.Sprintf("(E=%d)", last(x))}
		}
	}
	return x.Clone(), nil
}

func (layerNorm[F]) keeps(in []tensor.Shape) int { return 2 * in[0].TotalSize() / last(in[0]) }

func (o layerNorm[F]) compute(all vector[F], in []*tensor.Dense) error {
	x, cols := dense.Floats[F](in[0]), last(in[0].Shape())
	y, mean, rstd := all.next(len(x)), all.next(len(x)/cols), all
	kernel.LayerNorm(y, mean, rstd, x, dense.Floats[F](in[1]), floats[F](in[2]), cols, o.Eps)
	return nil
}

// With rstd = 1/√(variance + eps), x̂ = (x − mean)·rstd, y = x̂⊙weight + bias and
// g = dy⊙weight:  dx = rstd·(g − mean(g) − x̂·mean(g⊙x̂)), dweight = Σ dy⊙x̂,
// dbias = Σ dy.
func (layerNorm[F]) gradients(d vector[F], in []*tensor.Dense, all vector[F], dy []F) error {
	x, weight := dense.Floats[F](in[0]), dense.Floats[F](in[1])
	cols := len(weight)
	_, mean, rstd := all.next(len(x)), all.next(len(x)/cols), all
	kernel.LayerNormBackward(d.like(in[0]), d.like(in[1]), d.like(in[2]), dy, x, weight, mean, rstd, cols)
	return nil
}
