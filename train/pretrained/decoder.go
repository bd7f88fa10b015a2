package pretrained

import (
	"cmp"
	"math"
	"slices"

	"attention/graph/mask"
	"attention/internal/config"
	"attention/internal/safetensors"
	"attention/layers"
)

// decoder returns the config of the model that settings describe.
func (f *family) decoder(s settings) (layers.DecoderConfig, error) {
	c := layers.DecoderConfig{
		VocabSize: s.VocabSize, ContextLength: s.MaxPositions, NumLayers: s.NumHiddenLayers,
		LogitSoftcap: s.FinalLogitSoftcapping, EmbeddingDropout: s.HiddenDropout,
		TieWordEmbeddings: s.TieWordEmbeddings, Layout: layers.Llama,
	}
	if f.scaled {
		c.EmbeddingScale = rounded(math.Sqrt(float64(s.HiddenSize)), s.dtype)
	}
	var kinds []layerKind
	for i := range s.NumHiddenLayers {
		kind, err := f.kind(s, i)
		if err != nil {
			return layers.DecoderConfig{}, config.JSON(err)
		}
		at := slices.Index(kinds, kind)
		if at < 0 {
			b, err := f.blockOf(s, kind)
			if err != nil {
				return layers.DecoderConfig{}, config.JSON(err)
			}
			at, kinds, c.Blocks = len(kinds), append(kinds, kind), append(c.Blocks, b)
		}
		c.Pattern = append(c.Pattern, at)
	}
	c.Pattern = period(c.Pattern)
	if len(kinds) == 1 {
		c.Pattern = nil
	}
	return c, c.Validate()
}

// layerKind holds the differences between the layers of a model.
type layerKind struct {
	window bool // the layer sees a window of keys
	turned bool // the layer has rotary positions
}

// The values of layer_types.
const (
	fullAttention    = "full_attention"
	slidingAttention = "sliding_attention"
)

// kind returns the kind of a layer.
func (f *family) kind(s settings, layer int) (layerKind, error) {
	k := layerKind{turned: true}
	switch {
	case s.NoRopeLayers != nil:
		k.turned = s.NoRopeLayers[layer] != 0
	case s.NoRopeInterval > 0:
		k.turned = (layer+1)%s.NoRopeInterval != 0
	}
	if s.LayerTypes == nil {
		k.window = f.slides != nil && s.SlidingWindow > 0 && f.slides(s, layer) &&
			(s.UseSlidingWindow || !f.knows("use_sliding_window"))
		return k, nil
	}
	t := s.LayerTypes[layer]
	k.window = t == slidingAttention && s.SlidingWindow > 0
	return k, config.OneOf(s, "LayerTypes", t, fullAttention, slidingAttention)
}

// period returns the shortest prefix whose repetition is the list.
func period(list []int) []int {
	for n := 1; n < len(list); n++ {
		if slices.Equal(list[n:], list[:len(list)-n]) {
			return list[:n]
		}
	}
	return list
}

// activations maps transformers' names of activations to those of an MLP without a gate and of one with a gate.
var activations = map[string][2]layers.Activation{
	"silu": {layers.SiLU, layers.SwiGLU}, "swish": {layers.SiLU, layers.SwiGLU},
	"gelu": {layers.GELU, layers.GeGLU}, "gelu_new": {layers.GELUTanh, layers.GeGLUTanh},
	"gelu_pytorch_tanh": {layers.GELUTanh, layers.GeGLUTanh}, "gelu_fast": {layers.GELUTanh, layers.GeGLUTanh},
	"relu": {layers.ReLU, ""}, "relu2": {layers.ReLUSquared, ""},
}

// blockOf returns the config of the blocks of a kind.
func (f *family) blockOf(s settings, k layerKind) (b layers.BlockConfig, err error) {
	b = f.block
	a := &b.Attention
	a.EmbedDim, a.NumHeads, a.NumKVHeads = s.HiddenSize, s.NumHeads, cmp.Or(s.NumKVHeads, s.NumHeads)
	a.HeadDim = cmp.Or(s.HeadDim, s.HiddenSize/s.NumHeads)
	a.QKVBias, a.OutBias = a.QKVBias || s.AttentionBias, s.AttentionBias
	a.Layout, a.Dropout, a.Softcap = layers.Llama, s.AttentionDropout, s.AttnLogitSoftcapping
	if s.QueryPreAttnScalar > 0 {
		a.Scale = 1 / math.Sqrt(s.QueryPreAttnScalar)
	}
	a.Mask = mask.Causal{}
	if k.window {
		a.Mask = mask.SlidingWindow{Left: s.SlidingWindow - 1}
	}
	if k.turned {
		if a.RoPE, err = f.rope(s, k.window, a.HeadDim); err != nil {
			return b, err
		}
	}
	b.Norm.Eps = cmp.Or(s.RMSNormEps, s.LayerNormEps)
	if a.QKNorm != "" {
		a.QKNormEps = b.Norm.Eps
	}
	b.Parallel = s.UseParallelResidual
	b.MLP.DimFeedforward, b.MLP.Bias = s.IntermediateSize, b.MLP.Bias || s.MLPBias
	a.OutDropout, b.MLP.Dropout = s.HiddenDropout, s.HiddenDropout
	b.MLP.Activation, err = f.activation(s)
	return b, err
}

// activation returns the activation of the MLPs.
func (f *family) activation(s settings) (layers.Activation, error) {
	name, field, gated := s.HiddenAct, "HiddenAct", 0
	if s.HiddenActivation != "" {
		name, field = s.HiddenActivation, "HiddenActivation"
	}
	if f.block.MLP.Activation == layers.SwiGLU || f.block.MLP.Activation == layers.GeGLUTanh {
		gated = 1
	}
	a := activations[name][gated]
	if a == "" {
		return "", config.Errorf(s, field, "got %.60q, want one known here, such as silu, gelu or gelu_pytorch_tanh", name)
	}
	return a, nil
}

// rounded returns x rounded to a type of weights.
func rounded(x float64, dtype string) float64 {
	if dtype == "float64" {
		return x
	}
	return float64(safetensors.Round(dtypes[dtype], float32(x)))
}

// dtypes are torch's names for the types of weights.
var dtypes = map[string]safetensors.DType{"float64": safetensors.F64, "float32": safetensors.F32,
	"float16": safetensors.F16, "bfloat16": safetensors.BF16}
