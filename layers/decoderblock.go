package layers

import (
	"attention/graph/mask"
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
)

// DecoderBlockConfig configures a DecoderBlock.
type DecoderBlockConfig struct {
	// Block configures the attention of the sequence to itself, usually with a causal Mask.
	Block BlockConfig `json:"block"`
	// Cross is attention to the memory. The zero value means plain attention with Block.Attention's sizes, biases of
	// projections, Layout, OutStd, Scale, Softcap, QKNorm, Sinks, Gate and dropouts. Its mask and positions, Sparse,
	// Score, Forget, Differential, Sigmoid, added keys and ContextLength are for the sequence itself.
	Cross AttentionConfig `json:"cross,omitzero"`
}

// validate returns an error that names the first wrong field.
func (c DecoderBlockConfig) validate() error {
	if err := c.Block.validate(); err != nil {
		return config.In(c, "Block", err)
	}
	c = c.resolved()
	if c.Block.Parallel {
		return config.Errorf(c, "Block.Parallel", "got true, want false: the parts follow each other")
	}
	if c.Block.Linear != nil {
		return config.Errorf(c, "Block.Linear", "got one, want none")
	}
	if err := config.OneOf(c, "Block.NormPlacement", c.Block.NormPlacement, PreNorm, PostNorm); err != nil {
		return err
	}
	if err := c.Cross.validate(); err != nil {
		return config.In(c, "Cross", err)
	}
	return widthsAgree(c, "Block.Attention.EmbedDim", c.Block.Attention.EmbedDim,
		size{"Cross.EmbedDim", c.Cross.EmbedDim}, size{"Cross.OutDim", c.Cross.resolved().OutDim})
}

// resolved returns c with zeros replaced by their defaults.
func (c DecoderBlockConfig) resolved() DecoderBlockConfig {
	c.Block = c.Block.resolved()
	if c.Cross.EmbedDim == 0 {
		c.Cross = c.Block.Attention.forMemory()
	}
	return c
}

// forMemory returns the default attention to a memory in a block whose attention of the sequence to itself is c.
func (c AttentionConfig) forMemory() AttentionConfig {
	return AttentionConfig{
		EmbedDim: c.EmbedDim, KDim: c.KDim, VDim: c.VDim, OutDim: c.OutDim,
		NumHeads: c.NumHeads, NumKVHeads: c.NumKVHeads, HeadDim: c.HeadDim, ValueDim: c.ValueDim,
		QKVBias: c.QKVBias, OutBias: c.OutBias, ContextOnly: c.ContextOnly, Layout: c.Layout, OutStd: c.OutStd,
		Scale: c.Scale, Softcap: c.Softcap,
		QKNorm: c.QKNorm, QKNormEps: c.QKNormEps, QKNormWhole: c.QKNormWhole, QKNormOffset: c.QKNormOffset,
		Sinks: c.Sinks, Gate: c.Gate,
		Dropout: c.Dropout, ContextDropout: c.ContextDropout, OutDropout: c.OutDropout,
	}
}

// DecoderBlock is a block that also attends to a memory, an encoder's output for another
// sequence (Vaswani et al. 2017; torch.nn.TransformerDecoderLayer).
type DecoderBlock struct {
	name             string             // in errors
	config           DecoderBlockConfig // resolved
	attention, cross *Attention
	mlp              *MLP
	norms            [3]partNorms
}

// NewDecoderBlock makes the parameters of the parts, named by the layout of
// Block.Attention:
//
//	Book   ln_1, attn, ln_cross_attn, cross_attn, ln_2, mlp
//	Torch  norm1, self_attn, norm2, multihead_attn, norm3, and the MLP's linear1 and
//	       linear2, as in nn.TransformerDecoderLayer
//	GPT2   ln_1, attn, ln_cross_attn, crossattention, ln_2, mlp
//	Llama  input_layernorm, self_attn, cross_attn_layernorm, cross_attn,
//	       post_attention_layernorm, mlp
func NewDecoderBlock(s Scope, c DecoderBlockConfig) (*DecoderBlock, error) {
	return checked(s, "DecoderBlock", c, newDecoderBlock)
}

func newDecoderBlock(s Scope, c DecoderBlockConfig) (*DecoderBlock, error) {
	c = c.resolved()
	at := c.Block.Attention.Layout.names()
	m := maker{scope: s}
	l := &DecoderBlock{name: s.name("DecoderBlock"), config: c}
	l.attention = part(&m, at.attention, newAttention, c.Block.Attention)
	l.cross = part(&m, at.cross, newAttention, c.Cross)
	l.mlp = part(&m, at.mlp, newMLP, c.Block.MLP)
	for i, name := range at.decoderNorms {
		norm := part(&m, name, newNorm, c.Block.Norm)
		if l.norms[i].input = norm; c.Block.NormPlacement == PostNorm {
			l.norms[i] = partNorms{sum: norm}
		}
		l.norms[i].names = []partNames{attentionPart, crossPart, mlpAfterCross}[i]
	}
	return done(&m, l)
}

// Forward maps x ([B,] T, E), with memory ([B,] S, Cross.KDim), to ([B,] T, E). own hides tokens of x in addition to
// the config's Mask, and ofMemory hides tokens of memory; nil hides none.
func (l *DecoderBlock) Forward(b *Build, x, memory *G.Node, own, ofMemory mask.Mask) (*G.Node, error) {
	f := begin(b, l.name)
	if !f.isNode("memory", memory) {
		return f.result(nil)
	}
	scale := l.config.Block.ResidualScale
	x = f.residual(f.checkpoint(x), l.norms[0], scale, func(x *G.Node) (*G.Node, error) {
		return l.attention.Attend(b, AttentionInput{Query: x, Mask: own})
	})
	x = f.residual(x, l.norms[1], scale, func(x *G.Node) (*G.Node, error) {
		return l.cross.Attend(b, AttentionInput{Query: x, Key: memory, Mask: ofMemory})
	})
	x = f.residual(x, l.norms[2], scale, func(x *G.Node) (*G.Node, error) { return l.mlp.Forward(b, x) })
	return f.result(f.checkpoint(x))
}
