package layers

import (
	"cmp"
	"math"
)

// Resolved returns c with its defaults in place of zeros, also in its blocks and norms. Widths of the attention from
// which no other can be divided remain 0. The decoder of the result is that of c.
func (c DecoderConfig) Resolved() DecoderConfig {
	if len(c.Blocks) == 0 {
		return c
	}
	c = c.resolved()
	for i, b := range c.Blocks {
		c.Blocks[i] = b.Resolved()
		if d := b.Attention.Differential; d != nil {
			*c.Blocks[i].Attention.Differential = *d // Block has the default, which depends on the layer
		}
	}
	c.Norm = c.Norm.resolved()
	c.EmbeddingScale, c.LogitScale = cmp.Or(c.EmbeddingScale, 1), cmp.Or(c.LogitScale, 1)
	return c
}

// Resolved returns c with its defaults in place of zeros, also in its attention, MLP and norm.
func (c BlockConfig) Resolved() BlockConfig {
	c = c.resolved()
	c.Attention = c.Attention.resolved()
	a := &c.Attention
	a.Scale = cmp.Or(a.Scale, 1/math.Sqrt(float64(max(a.HeadDim, 1))))
	if a.QKNorm != "" {
		a.QKNormEps = cmp.Or(a.QKNormEps, normEps[a.QKNorm])
	}
	if a.RoPE != nil {
		a.RoPE.Base, a.RoPE.Dims = cmp.Or(a.RoPE.Base, 10000), cmp.Or(a.RoPE.Dims, a.HeadDim)
	}
	c.MLP, c.Norm = c.MLP.resolved(), c.Norm.resolved()
	c.ResidualScale = cmp.Or(c.ResidualScale, 1)
	return c
}

// resolved returns c with the default kind and the kind's default Eps in place of zeros.
func (c NormConfig) resolved() NormConfig {
	c.Kind = cmp.Or(c.Kind, LayerNorm)
	c.Eps = cmp.Or(c.Eps, normEps[c.Kind])
	return c
}
