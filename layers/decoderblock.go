package layers

import (
	"attention/graph/mask"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// DecoderBlockConfig says what a DecoderBlock is made of.
type DecoderBlockConfig struct {
	Block BlockConfig // its Attention is of the sequence to itself, with a causal Mask as a rule
	// Cross is attention to the memory. The zero value means as Block.Attention, but for
	// its mask and positions.
	Cross AttentionConfig
}

// decoderNames are the names of the norms and of the attention to the memory, by the
// layout of the block.
type decoderNames struct {
	norms [3]string
	cross string
}

var decoderLayouts = map[Layout]decoderNames{
	Book:  {[3]string{"ln_1", "ln_cross_attn", "ln_2"}, "cross_attn"},
	Torch: {[3]string{"norm1", "norm2", "norm3"}, "multihead_attn"},
	GPT2:  {[3]string{"ln_1", "ln_cross_attn", "ln_2"}, "crossattention"},
	Llama: {[3]string{"input_layernorm", "cross_attn_layernorm", "post_attention_layernorm"}, "cross_attn"},
}

// Validate says what is wrong with the config.
func (c DecoderBlockConfig) Validate() error {
	if err := c.Block.Validate(); err != nil {
		return err
	}
	c = c.resolved()
	if err := c.Cross.Validate(); err != nil {
		return within("DecoderBlock: Cross", err)
	}
	if _, ok := decoderLayouts[c.Block.Attention.Layout]; !ok {
		return errorf("DecoderBlock", "Layout: got %q, want one of %v", c.Block.Attention.Layout, layoutsIn(decoderLayouts))
	}
	for _, w := range []size{{"Cross.Width", c.Cross.Width}, {"Cross.Out", c.Cross.resolved().Out}} {
		if w.got != c.Block.Attention.Width {
			return errorf("DecoderBlock", "%s: got %d, want Block.Attention.Width=%d", w.name, w.got, c.Block.Attention.Width)
		}
	}
	return nil
}

// resolved is c with the zeros replaced by what they stand for.
func (c DecoderBlockConfig) resolved() DecoderBlockConfig {
	c.Block = c.Block.resolved()
	if c.Cross.Width == 0 {
		c.Cross = c.Block.Attention
		c.Cross.Mask, c.Cross.RoPE, c.Cross.ALiBi, c.Cross.RelativeBias = nil, nil, false, nil
	}
	return c
}

// Count is the number of elements in all parameters.
func (c DecoderBlockConfig) Count() int {
	c = c.resolved()
	return c.Block.Count() + c.Cross.count() + c.Block.Norm.Count()
}

// DecoderBlock is a block that also attends to a memory: what an encoder made of another
// sequence (Vaswani et al. 2017; torch.nn.TransformerDecoderLayer).
type DecoderBlock struct {
	name             string             // in errors
	config           DecoderBlockConfig // resolved
	attention, cross *Attention
	mlp              *MLP
	norms            [3]*Norm
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
	if err := s.locate(c.Validate()); err != nil {
		return nil, err
	}
	c = c.resolved()
	l := &DecoderBlock{name: s.name("DecoderBlock"), config: c}
	block, names := blockLayouts[c.Block.Attention.Layout], decoderLayouts[c.Block.Attention.Layout]
	var err error
	if l.attention, err = NewAttention(s.Sub(block.attention), c.Block.Attention); err != nil {
		return nil, err
	}
	if l.cross, err = NewAttention(s.Sub(names.cross), c.Cross); err != nil {
		return nil, err
	}
	if l.mlp, err = NewMLP(subOrSelf(s, block.mlp), c.Block.MLP); err != nil {
		return nil, err
	}
	for i, name := range names.norms {
		if l.norms[i], err = NewNorm(s.Sub(name), c.Block.Norm); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// DecoderInput is what one call of a DecoderBlock works on. The masks may be nil.
type DecoderInput struct {
	X          *G.Node   // (T, Width) or (B, T, Width)
	Memory     *G.Node   // ([B,] S, Cross.KeyWidth)
	Mask       mask.Mask // which of X a token of X sees, besides what the config's Mask hides
	MemoryMask mask.Mask // which of Memory it sees
}

// Forward maps in.X (…, T, Width) to (…, T, Width).
func (l *DecoderBlock) Forward(b *Build, in DecoderInput) (*G.Node, error) {
	return withoutWeights(l.forward(b, in, func(b *Build, in AttentionInput) (out, weights *G.Node, err error) {
		out, err = l.cross.Forward(b, in)
		return out, nil, err
	}))
}

// ForwardWithWeights also returns the weights (…, H, T, S) with which X sees the memory,
// after dropout in a Train graph.
func (l *DecoderBlock) ForwardWithWeights(b *Build, in DecoderInput) (out, weights *G.Node, err error) {
	return l.forward(b, in, l.cross.ForwardWithWeights)
}

func (l *DecoderBlock) forward(b *Build, in DecoderInput, cross func(*Build, AttentionInput) (out, weights *G.Node, err error)) (out, weights *G.Node, err error) {
	if in.Memory == nil {
		return nil, nil, errorf(l.name, "memory: got nil, want a node")
	}
	var f expr.Formula
	add := func(x *G.Node, norm *Norm, part func(x *G.Node) (*G.Node, error)) *G.Node {
		return f.Of(residual(b, x, norm, l.config.Block.PostNorm, part))
	}
	x := add(in.X, l.norms[0], func(x *G.Node) (*G.Node, error) {
		return l.attention.Forward(b, AttentionInput{Query: x, Mask: in.Mask})
	})
	x = add(x, l.norms[1], func(x *G.Node) (context *G.Node, err error) {
		context, weights, err = cross(b, AttentionInput{Query: x, Key: in.Memory, Mask: in.MemoryMask})
		return context, err
	})
	x = add(x, l.norms[2], func(x *G.Node) (*G.Node, error) { return l.mlp.Forward(b, x) })
	return f.Result2(x, weights)
}
