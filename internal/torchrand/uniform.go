package torchrand

import "math"

// Uniform fills dst with values u·(to-from) + from, u uniform in [0, 1), as
// Tensor.uniform_(from, to) does, and torch.rand with 0 and 1. A float32 takes one draw and
// has 24 random bits, a float64 takes two and has 53.
//
// The caller checks that from <= to and that both are finite. As in PyTorch 1.13, a value
// may round to to.
func Uniform[F Float](g *Generator, dst []F, from, to F) {
	switch d := any(dst).(type) {
	case []float32:
		a, b := float32(from), float32(to)
		shift, scale := float64(a), float64(b-a)
		for i := range d {
			d[i] = float32(fma32(float64(g.unit32()), scale, shift))
		}
	case []float64:
		a, b := float64(from), float64(to)
		for i := range d {
			d[i] = math.FMA(g.unit64(), b-a, a)
		}
	}
}

// unit32 draws from {0, 1, …, 2²⁴-1} / 2²⁴.
func (g *Generator) unit32() float32 {
	return float32(g.Uint32()&(1<<24-1)) * (1. / (1 << 24))
}

// unit64 draws from {0, 1, …, 2⁵³-1} / 2⁵³.
func (g *Generator) unit64() float64 {
	return float64(g.Uint64()&(1<<53-1)) * (1. / (1 << 53))
}
