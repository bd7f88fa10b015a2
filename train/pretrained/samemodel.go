package pretrained

import (
	"cmp"
	"encoding/json"
	"math"
	"reflect"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"
)

// sameModel reports whether two configs are of models that compute the same from the same weights, dropout aside.
func sameModel(a, b layers.DecoderConfig) bool {
	if a.NumLayers != b.NumLayers || len(a.Blocks) == 0 || len(b.Blocks) == 0 {
		return false
	}
	as, bs, equal := plainBlocks(a), plainBlocks(b), map[[2]int]bool{}
	for i := range a.NumLayers {
		pair := [2]int{kindAt(a, i), kindAt(b, i)}
		if _, compared := equal[pair]; !compared {
			equal[pair] = reflect.DeepEqual(as[pair[0]], bs[pair[1]])
		}
		if !equal[pair] {
			return false
		}
	}
	return reflect.DeepEqual(plainDecoder(a), plainDecoder(b))
}

// kindAt returns the index of a layer's kind.
func kindAt(c layers.DecoderConfig, layer int) int {
	if len(c.Pattern) == 0 {
		return 0
	}
	return c.Pattern[layer%len(c.Pattern)]
}

// plainDecoder returns a config with defaults in place of zeros, without blocks, and without what only training uses.
func plainDecoder(c layers.DecoderConfig) layers.DecoderConfig {
	c.EmbeddingScale, c.LogitScale = cmp.Or(c.EmbeddingScale, 1), cmp.Or(c.LogitScale, 1)
	if c.Norm == (layers.NormConfig{}) {
		c.Norm = c.Blocks[0].Norm
	}
	c.Norm = plainNorm(c.Norm)
	c.Layout = cmp.Or(c.Layout, layers.Llama)
	c.Blocks, c.Pattern, c.Initializer, c.EmbeddingDropout = nil, nil, "", 0
	return c
}

// plainBlocks returns the kinds of blocks with defaults in place of zeros, and without what only training uses.
func plainBlocks(c layers.DecoderConfig) (all []layers.BlockConfig) {
	for _, b := range c.Blocks {
		a := &b.Attention
		a.Layout = cmp.Or(a.Layout, c.Layout, layers.Llama)
		a.NumKVHeads = cmp.Or(a.NumKVHeads, a.NumHeads)
		a.HeadDim = cmp.Or(a.HeadDim, a.EmbedDim/max(a.NumHeads, 1))
		a.ValueDim, a.OutDim = cmp.Or(a.ValueDim, a.HeadDim), cmp.Or(a.OutDim, a.EmbedDim)
		a.Scale = cmp.Or(a.Scale, 1/math.Sqrt(float64(max(a.HeadDim, 1))))
		a.Mask = plainMask(a.Mask)
		if a.QKNorm != "" {
			a.QKNormEps = cmp.Or(a.QKNormEps, 1e-6)
		}
		if a.RoPE != nil {
			a.RoPE = plainRoPE(*a.RoPE, a.HeadDim)
		}
		a.Dropout, a.OutDropout, a.ContextDropout, a.OutStd, a.ContextLength = 0, 0, 0, 0, 0
		b.MLP = layers.MLPConfig{DimFeedforward: cmp.Or(b.MLP.DimFeedforward, 4*a.EmbedDim), Bias: b.MLP.Bias,
			Activation: cmp.Or(b.MLP.Activation, layers.GELU)}
		b.Norm, b.NormPlacement = plainNorm(b.Norm), cmp.Or(b.NormPlacement, layers.PreNorm)
		b.ResidualScale = cmp.Or(b.ResidualScale, 1)
		all = append(all, b)
	}
	return all
}

// plainMask returns a causal window as one mask. It is one too if it is both, causal and a sliding window.
func plainMask(m mask.Mask) mask.Mask {
	if m == nil {
		return mask.Causal{}
	}
	var form struct{ Of []struct{ Left int } }
	if text, err := json.Marshal(m); err == nil && json.Unmarshal(text, &form) == nil && len(form.Of) == 2 {
		w := mask.SlidingWindow{Left: form.Of[1].Left}
		if mask.Equal(m, mask.And(mask.Causal{}, w)) {
			return w
		}
	}
	return m
}

func plainNorm(c layers.NormConfig) layers.NormConfig {
	c.EmbedDim, c.Kind = 0, cmp.Or(c.Kind, layers.LayerNorm)
	if c.Eps == 0 {
		c.Eps = map[layers.NormKind]float64{layers.LayerNorm: 1e-5, layers.RMSNorm: 1e-6}[c.Kind]
	}
	return c
}

func plainRoPE(c graph.RoPEConfig, headDim int) *graph.RoPEConfig {
	c.Base, c.Dims = cmp.Or(c.Base, 10000), cmp.Or(c.Dims, headDim)
	return &c
}
