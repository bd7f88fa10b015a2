package pretrained

import (
	"math"

	"attention/graph/mask"
	"attention/layers"
)

// settingsOf returns the family's settings for a decoder with weights of a type, as far as the family has keys for
// them. If these settings describe the same decoder, it belongs to the family.
func (f *family) settingsOf(c layers.DecoderConfig, dtype string) settings {
	s, own := allSettings(c, dtype), f.absent
	to := own.fields()
	for key, value := range s.fields() {
		if f.knows(key) {
			to[key].Set(value)
		}
	}
	own.dtype = dtype
	return own
}

// allSettings returns the settings of a decoder in all known keys.
func allSettings(c layers.DecoderConfig, dtype string) settings {
	c = c.Resolved()
	b := c.Block(0)
	a, norm := b.Attention, b.Norm.Eps
	s := settings{
		VocabSize: c.VocabSize, HiddenSize: a.EmbedDim, IntermediateSize: b.MLP.DimFeedforward,
		NumHiddenLayers: c.NumLayers, NumHeads: a.NumHeads, NumKVHeads: a.NumKVHeads, HeadDim: a.HeadDim,
		MaxPositions: c.ContextLength, RMSNormEps: norm, LayerNormEps: norm,
		AttentionBias: a.OutBias, MLPBias: b.MLP.Bias, AttentionDropout: c.Blocks[0].Attention.Dropout,
		HiddenDropout: c.EmbeddingDropout, TieWordEmbeddings: c.TieWordEmbeddings, UseParallelResidual: b.Parallel,
		RotaryPct: 1, AttnLogitSoftcapping: a.Softcap,
		FinalLogitSoftcapping: c.LogitSoftcap, dtype: dtype,
	}
	s.QueryPreAttnScalar = 1 / (a.Scale * a.Scale)
	if whole := math.Round(s.QueryPreAttnScalar); 1/math.Sqrt(whole) == a.Scale {
		s.QueryPreAttnScalar = whole
	}
	for _, name := range []string{"silu", "gelu", "gelu_pytorch_tanh", "relu", "relu2"} {
		if b.MLP.Activation == activations[name][0] || b.MLP.Activation == activations[name][1] {
			s.HiddenAct, s.HiddenActivation = name, name
		}
	}
	s.layers(c)
	return s
}

// layers sets the settings that differ between layers.
func (s *settings) layers(c layers.DecoderConfig) {
	s.MaxWindowLayers = c.NumLayers
	for i := range c.NumLayers {
		a := c.Block(i).Attention
		kind, turned := fullAttention, 1
		w, windowed := plainMask(a.Mask).(mask.SlidingWindow)
		if windowed {
			kind, s.SlidingWindow, s.UseSlidingWindow = slidingAttention, w.Left+1, true
			s.MaxWindowLayers = min(s.MaxWindowLayers, i)
		}
		switch {
		case a.RoPE == nil:
			turned = 0
		case windowed:
			s.RopeLocalBaseFreq = a.RoPE.Base
			if s.RopeTheta != 0 {
				break
			}
			fallthrough
		default:
			s.RopeTheta, s.RopeScaling = a.RoPE.Base, ropeText(a.RoPE)
			s.RotaryPct = float64(a.RoPE.Dims) / float64(a.HeadDim)
		}
		s.LayerTypes, s.NoRopeLayers = append(s.LayerTypes, kind), append(s.NoRopeLayers, turned)
	}
	s.RotaryEmbBase = s.RopeTheta
}
