package graph

import (
	"fmt"

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
	if err := checkEps("LayerNorm", eps); err != nil {
		return nil, err
	}
	y, _, err := applyKept(layerNorm[float32]{eps}, layerNorm[float64]{eps}, x, weight, bias)
	return y, err
}

// layerNorm is the op. It keeps each row's mean, then each row's 1/√(variance + eps).
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
