package layers

import (
	"cmp"

	"attention/graph"
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
)

// BlockConfig configures a Block. By the Attention's Mask, Layout, positions and dropouts it
// is GPT-2's block, Llama's or nn.TransformerEncoderLayer.
type BlockConfig struct {
	Attention AttentionConfig `json:"attention"`     // of a sequence to itself; OutDim is EmbedDim
	MLP       MLPConfig       `json:"mlp,omitzero"`  // EmbedDim and Layout, if zero, are the attention's
	Norm      NormConfig      `json:"norm,omitzero"` // of both norms; EmbedDim, if zero, is the attention's
	// PostNorm puts norms after the sums (Vaswani et al. 2017), not before the parts (GPT-2).
	PostNorm bool `json:"post_norm,omitempty"`
}

// validate returns an error that names the first wrong field.
func (c BlockConfig) validate() error {
	c = c.resolved()
	if err := c.Attention.validate(); err != nil {
		return config.In(c, "Attention", err)
	}
	widths := widthsAgree(c, "Attention.EmbedDim", c.Attention.EmbedDim,
		size{"Attention.OutDim", c.Attention.resolved().OutDim}, size{"MLP.EmbedDim", c.MLP.EmbedDim},
		size{"Norm.EmbedDim", c.Norm.EmbedDim})
	return cmp.Or(widths, config.In(c, "MLP", c.MLP.validate()), config.In(c, "Norm", c.Norm.validate()))
}

// resolved returns c with zeros replaced by the attention's settings.
func (c BlockConfig) resolved() BlockConfig {
	c.Attention.Layout = cmp.Or(c.Attention.Layout, Book)
	c.MLP.EmbedDim = cmp.Or(c.MLP.EmbedDim, c.Attention.EmbedDim)
	c.MLP.Layout = cmp.Or(c.MLP.Layout, c.Attention.Layout)
	c.Norm.EmbedDim = cmp.Or(c.Norm.EmbedDim, c.Attention.EmbedDim)
	return c
}

// Block is a transformer's block: attention, then an MLP, each added to its input.
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
func NewBlock(s Scope, c BlockConfig) (*Block, error) {
	return checked(s, "Block", c, newBlock)
}

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

// Forward maps in.Query (…, T, E) to (…, T, E). in.Key and in.Value must be nil; the attention
// takes all other fields.
func (l *Block) Forward(b *Build, in AttentionInput) (*G.Node, error) {
	f := begin(b, l.name)
	if in.Key != nil || in.Value != nil {
		f.fail(errorf(l.name, "key: got another sequence than the query, want nil"))
		return f.result(nil)
	}
	post := l.config.PostNorm
	x := f.residual(f.checkpoint(in.Query), l.norms[0], post, func(x *G.Node) (*G.Node, error) {
		in.Query = x
		return l.attention.Attend(b, in)
	})
	x = f.residual(x, l.norms[1], post, func(x *G.Node) (*G.Node, error) { return l.mlp.Forward(b, x) })
	return f.result(f.checkpoint(x))
}

// residual returns x + part(norm(x)), or norm(x + part(x)) with the norm after the sum.
func (f *formula) residual(x *G.Node, norm *Norm, post bool, part func(x *G.Node) (*G.Node, error)) *G.Node {
	if post {
		return f.Of(norm.Forward(f.b, f.Of(graph.Add(x, f.Of(part(x))))))
	}
	return f.Of(graph.Add(x, f.Of(part(f.Of(norm.Forward(f.b, x))))))
}
