package layers

import (
	"attention/internal/torchrand"

	"gorgonia.org/tensor"
)

// Init says which values a new parameter begins with. The zero value is zeros.
type Init struct {
	dist distribution
	a, b float64
}

type distribution int

const (
	constant distribution = iota
	uniform
	normal
)

// Constant fills a parameter with v.
func Constant(v float64) Init { return Init{constant, v, 0} }

// Uniform draws from [lo, hi) (torch.Tensor.uniform_).
func Uniform(lo, hi float64) Init { return Init{uniform, lo, hi} }

// Normal draws from a normal distribution (torch.Tensor.normal_).
func Normal(mean, std float64) Init { return Init{normal, mean, std} }

// linearWeight is nn.Linear's default for weights: kaiming_uniform_(a=√5), which is
// uniform within ±1/√in.
func linearWeight(in int) Init {
	bound := torchrand.KaimingUniformBound(in)
	return Uniform(-bound, bound)
}

// linearBias is nn.Linear's default for the bias: uniform within ±1/√in.
func linearBias(in int) Init {
	bound := torchrand.LinearBiasBound(in)
	return Uniform(-bound, bound)
}

func (i Init) fill(g *torchrand.Generator, v *tensor.Dense) {
	switch data := v.Data().(type) {
	case []float32:
		fill(i, g, data)
	case []float64:
		fill(i, g, data)
	}
}

func fill[F torchrand.Float](i Init, g *torchrand.Generator, dst []F) {
	switch i.dist {
	case uniform:
		torchrand.Uniform(g, dst, F(i.a), F(i.b))
	case normal:
		torchrand.Normal(g, dst, F(i.a), F(i.b))
	default:
		for j := range dst {
			dst[j] = F(i.a)
		}
	}
}
