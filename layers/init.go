package layers

import (
	"math"
	"strings"

	"attention/internal/dense"
	"attention/internal/torchrand"

	"gorgonia.org/tensor"
)

// Init is how the initial values of a parameter are drawn. The zero value is zeros.
type Init struct {
	dist    distribution
	a, b    float64
	cleared bool // set to 0 after the draw
}

type distribution int

const (
	constant distribution = iota
	uniform
	normal
	bernoulli
	logarithm
	softplusLogarithm
)

// Constant fills a parameter with v.
func Constant(v float64) Init { return Init{dist: constant, a: v} }

// Uniform draws from [lo, hi) (torch.Tensor.uniform_).
func Uniform(lo, hi float64) Init { return Init{dist: uniform, a: lo, b: hi} }

// Normal draws from a normal distribution (torch.Tensor.normal_).
func Normal(mean, std float64) Init { return Init{dist: normal, a: mean, b: std} }

// Bernoulli draws 1 with probability p and otherwise 0 (torch.Tensor.bernoulli_), as torch's dropout draws the elements
// that it keeps. What is drawn for a seed depends on the build of PyTorch: this is what those with MKL drew up to 1.13,
// whose dropout seeds MKL's MCG31m1. PyTorch 2.15 draws a float64 for each element.
func Bernoulli(p float64) Init { return Init{dist: bernoulli, a: p} }

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

// xavierUniform is uniform within ±√(6/(in+out)), rounded as PyTorch does
// (torch.nn.init.xavier_uniform_).
func xavierUniform(in, out int) Init {
	bound := math.Sqrt(3) * math.Sqrt(2/float64(in+out))
	return Uniform(-bound, bound)
}

// xavierNormal is normal with the deviation √(2/(in+out)) (torch.nn.init.xavier_normal_).
func xavierNormal(in, out int) Init { return Normal(0, math.Sqrt(2/float64(in+out))) }

// logUniform draws the logarithms of numbers that are uniform in [lo, hi).
func logUniform(lo, hi float64) Init { return Init{dist: logarithm, a: lo, b: hi} }

// softplusLogUniform draws numbers whose softplus has a logarithm that is uniform between those of lo and hi (Mamba's
// bias of time steps).
func softplusLogUniform(lo, hi float64) Init {
	return Init{dist: softplusLogarithm, a: math.Log(lo), b: math.Log(hi)}
}

// drawnThenZero draws what i draws and then sets zeros, as some of PyTorch's modules do with a
// bias.
func drawnThenZero(i Init) Init {
	i.cleared = true
	return i
}

func (i Init) fill(g *torchrand.Generator, v *tensor.Dense) {
	dense.ByType(v.Dtype(), fill[float32], fill[float64])(i, g, v)
	if i.cleared {
		v.Zero()
	}
}

func fill[F torchrand.Float](i Init, g *torchrand.Generator, v *tensor.Dense) {
	dst := dense.Floats[F](v)
	switch i.dist {
	case uniform, logarithm, softplusLogarithm:
		torchrand.Uniform(g, dst, F(i.a), F(i.b))
	case normal:
		torchrand.Normal(g, dst, F(i.a), F(i.b))
	case bernoulli:
		torchrand.KeepMask(g, dst, 1-i.a)
	default:
		for j := range dst {
			dst[j] = F(i.a)
		}
	}
	for j, v := range dst {
		switch i.dist {
		case logarithm:
			dst[j] = F(math.Log(float64(v)))
		case softplusLogarithm:
			y := math.Exp(float64(v))
			dst[j] = F(y + math.Log(-math.Expm1(-y)))
		}
	}
}

// beginAsTorch prepares the scope for a GPT whose parameters begin as PyTorch's modules do, with an nn.Linear for each
// of queries, keys and values, which are widths wide in c_attn. It returns a function that draws the parameters in
// their order, once they are made.
func (s Scope) beginAsTorch(widths [3]int) (draw func()) {
	p := s.params
	if p == nil || p.start != drawn {
		return func() {}
	}
	made := len(p.names)
	p.start = blank
	return func() {
		p.start = drawn
		var in int // of the product whose bias comes next
		for _, name := range p.names[made:] {
			if parent, ok := strings.CutSuffix(name, ".c_attn.weight"); ok {
				beginAttention(p.random, p.values[name], p.values[parent+".c_attn.bias"], widths)
				continue
			}
			in = beginOne(p.random, name, p.values[name], in)
		}
	}
}

// beginAttention draws queries, keys and values in this order, each with its weights and then its biases; bias is nil
// if they have none.
func beginAttention(random *torchrand.Generator, weight, bias *tensor.Dense, widths [3]int) {
	in, from := weight.Shape()[0], 0
	for _, width := range widths {
		beginColumns(random, weight, from, width)
		if bias != nil {
			part := tensor.New(tensor.Of(bias.Dtype()), tensor.WithShape(width))
			linearBias(in).fill(random, part)
			copyRow(bias, place{at: from, step: 1}, part, place{step: 1}, width)
		}
		from += width
	}
}

// beginColumns draws columns of a weight (in, out). nn.Linear has it, and draws it, as (out, in).
func beginColumns(random *torchrand.Generator, weight *tensor.Dense, from, width int) {
	in, out := weight.Shape()[0], weight.Shape()[1]
	rows := tensor.New(tensor.Of(weight.Dtype()), tensor.WithShape(width, in))
	linearWeight(in).fill(random, rows)
	for row := range width {
		copyRow(weight, place{at: from + row, step: out}, rows, place{at: row * in, step: 1}, in)
	}
}

// beginOne draws another parameter of a GPT. in is the inner axis of the product whose bias may come
// next; the result is in for the next parameter.
func beginOne(random *torchrand.Generator, name string, v *tensor.Dense, in int) int {
	shape := v.Shape()
	switch {
	case strings.Contains(name, ".ln_") && strings.HasSuffix(name, ".weight"):
		Constant(1).fill(random, v)
	case strings.Contains(name, ".ln_"), strings.HasSuffix(name, ".c_attn.bias"): // 0, or drawn with the weight
	case strings.HasSuffix(name, ".bias"):
		linearBias(in).fill(random, v)
	case strings.HasSuffix(name, ".wte.weight"), strings.HasSuffix(name, ".wpe.weight"):
		Normal(0, 1).fill(random, v)
	case strings.HasSuffix(name, "lm_head.weight"): // (V, E), as nn.Linear has it
		linearWeight(shape[1]).fill(random, v)
	default:
		in = shape[0]
		beginColumns(random, v, 0, shape[1])
	}
	return in
}
