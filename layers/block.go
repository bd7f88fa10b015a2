package layers

import (
	"attention/graph"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// BlockConfig says what a Block is made of. Its Attention's Mask, Layout, positions and
// dropouts make it GPT-2's block, Llama's or nn.TransformerEncoderLayer.
type BlockConfig struct {
	Attention AttentionConfig // of a sequence to itself; Out is Width
	MLP       MLPConfig       // Width and Layout, if zero, are the attention's
	Norm      NormConfig      // of both norms; Width, if zero, is the attention's
	PostNorm  bool            // norms come after the sums (Vaswani et al. 2017), not before the parts (GPT-2)
}

// Validate returns an error that names the first wrong field.
func (c BlockConfig) Validate() error {
	c = c.resolved()
	if err := c.Attention.Validate(); err != nil {
		return err
	}
	for _, w := range []size{{"Attention.Out", c.Attention.resolved().Out}, {"MLP.Width", c.MLP.Width}, {"Norm.Width", c.Norm.Width}} {
		if w.got != c.Attention.Width {
			return errorf("Block", "%s: got %d, want Attention.Width=%d", w.name, w.got, c.Attention.Width)
		}
	}
	if err := c.MLP.Validate(); err != nil {
		return err
	}
	return c.Norm.Validate()
}

// resolved is c with the zeros that stand for the attention's settings replaced by them.
func (c BlockConfig) resolved() BlockConfig {
	if c.Attention.Layout == "" {
		c.Attention.Layout = Book
	}
	if c.MLP.Width == 0 {
		c.MLP.Width = c.Attention.Width
	}
	if c.MLP.Layout == "" {
		c.MLP.Layout = c.Attention.Layout
	}
	if c.Norm.Width == 0 {
		c.Norm.Width = c.Attention.Width
	}
	return c
}

// Block is a transformer's block: attention, then an MLP, each added to what it reads.
//
//	x = x + attention(norm(x));  x = x + mlp(norm(x))      pre-norm
//	x = norm(x + attention(x));  x = norm(x + mlp(x))      post-norm
type Block struct {
	name      string      // in errors
	config    BlockConfig // resolved
	attention *Attention
	mlp       *MLP
	norms     [2]*Norm
}

// NewBlock makes the parameters of the parts, under the attention's layout:
//
//	Book, GPT2  ln_1, attn, ln_2, mlp
//	Torch       norm1, self_attn, norm2, and the MLP's linear1 and linear2, as in
//	            nn.TransformerEncoderLayer
//	Llama       input_layernorm, self_attn, post_attention_layernorm, mlp
func NewBlock(s Scope, c BlockConfig) (*Block, error) { return checked(s, c, newBlock) }

func newBlock(s Scope, c BlockConfig) (*Block, error) {
	c = c.resolved()
	at := c.Attention.Layout.names()
	m := maker{scope: s}
	l := &Block{name: s.name("Block"), config: c}
	l.norms[0] = part(&m, at.norms[0], newNorm, c.Norm)
	l.attention = part(&m, at.attention, newAttention, c.Attention)
	l.norms[1] = part(&m, at.norms[1], newNorm, c.Norm)
	l.mlp = part(&m, at.mlp, newMLP, c.MLP)
	return done(&m, l)
}

// Attention is the block's attention, for its state and its cache.
func (l *Block) Attention() *Attention { return l.attention }

// Forward maps in.Query (…, T, Width) to (…, T, Width). Key and Value must be nil; the
// rest is for the attention.
func (l *Block) Forward(b *Build, in AttentionInput) (*G.Node, error) {
	if in.Key != nil || in.Value != nil {
		return nil, errorf(l.name, "key: got another sequence than the query, want nil")
	}
	var f expr.Formula
	attend := func(x *G.Node) (*G.Node, error) {
		in.Query = x
		return l.attention.Attend(b, in)
	}
	feed := func(x *G.Node) (*G.Node, error) { return l.mlp.Forward(b, x) }
	x := f.Of(residual(b, in.Query, l.norms[0], l.config.PostNorm, attend))
	x = f.Of(residual(b, x, l.norms[1], l.config.PostNorm, feed))
	return f.Result(x)
}

// residual is x + part(norm(x)), or norm(x + part(x)) with the norm after the sum.
func residual(b *Build, x *G.Node, norm *Norm, postNorm bool, part func(x *G.Node) (*G.Node, error)) (*G.Node, error) {
	var f expr.Formula
	if postNorm {
		y := f.Of(norm.Forward(b, f.Of(graph.Add(x, f.Of(part(x))))))
		return f.Result(y)
	}
	y := f.Of(graph.Add(x, f.Of(part(f.Of(norm.Forward(b, x))))))
	return f.Result(y)
}
