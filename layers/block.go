package layers

import (
	"cmp"
	"fmt"

	"attention/graph"
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
)

// NormPlacement is the position of a block's norms.
type NormPlacement string

// The placements. A part is the attention or the MLP.
const (
	PreNorm      NormPlacement = "pre"      // norm of a part's input, as in GPT-2 and Llama
	PostNorm     NormPlacement = "post"     // norm of the sum of a part's input and output (Vaswani et al. 2017)
	OutputNorm   NormPlacement = "output"   // norm of a part's output, before the sum, as in OLMo 2
	SandwichNorm NormPlacement = "sandwich" // norms of a part's input and of its output, as in Gemma 2 and 3
)

// BlockConfig configures a Block. With suitable Mask, Layout, positions and dropouts of the Attention it is GPT-2's
// block, Llama's block or nn.TransformerEncoderLayer.
type BlockConfig struct {
	Attention AttentionConfig `json:"attention"` // of a sequence to itself; OutDim is EmbedDim
	// Linear replaces the attention; if its layout and sizes are zero, they are the attention's. nil means that the block
	// uses the attention.
	Linear        *LinearAttentionConfig `json:"linear,omitempty"`
	MLP           MLPConfig              `json:"mlp,omitzero"`             // EmbedDim and Layout, if zero, are the attention's
	Norm          NormConfig             `json:"norm,omitzero"`            // of all norms; EmbedDim, if zero, is the attention's
	NormPlacement NormPlacement          `json:"norm_placement,omitempty"` // zero means PreNorm
	// Parallel makes the block's input the input of both parts, and adds their outputs to it (GPT-NeoX).
	Parallel bool `json:"parallel,omitempty"`
	// ResidualScale multiplies the output of each part before it is added (Granite); 0 means 1.
	ResidualScale float64 `json:"residual_scale,omitempty"`
}

// validate returns an error that names the first wrong field.
func (c BlockConfig) validate() error {
	c = c.resolved()
	if err := c.Attention.validate(); err != nil {
		return config.In(c, "Attention", err)
	}
	widths := []size{{"Attention.OutDim", c.Attention.resolved().OutDim}, {"MLP.EmbedDim", c.MLP.EmbedDim},
		{"Norm.EmbedDim", c.Norm.EmbedDim}}
	if c.Linear != nil {
		if err := c.Linear.validate(); err != nil {
			return config.In(c, "Linear", err)
		}
		widths = append(widths, size{"Linear.EmbedDim", c.Linear.EmbedDim})
	}
	err := cmp.Or(widthsAgree(c, "Attention.EmbedDim", c.Attention.EmbedDim, widths...),
		config.In(c, "MLP", c.MLP.validate()), config.In(c, "Norm", c.Norm.validate()),
		config.OneOf(c, "NormPlacement", c.NormPlacement, PreNorm, PostNorm, OutputNorm, SandwichNorm),
		config.AtLeast(c, 0, "ResidualScale"))
	if err == nil && c.Parallel && c.NormPlacement == PostNorm {
		return config.Errorf(c, "Parallel", "got true with %s %q, want another placement",
			config.Field("NormPlacement"), PostNorm)
	}
	return err
}

// resolved returns c with zeros replaced by their defaults, many of which are the attention's settings.
func (c BlockConfig) resolved() BlockConfig {
	c.Attention.Layout = c.Attention.ownLayout()
	if c.Linear != nil {
		c.Linear = new(c.Linear.like(c.Attention))
	}
	c.MLP.EmbedDim = cmp.Or(c.MLP.EmbedDim, c.Attention.EmbedDim)
	c.MLP.Layout = cmp.Or(c.MLP.Layout, c.Attention.Layout)
	c.Norm.EmbedDim = cmp.Or(c.Norm.EmbedDim, c.Attention.EmbedDim)
	c.NormPlacement = cmp.Or(c.NormPlacement, PreNorm)
	return c
}

// CacheWidth returns the number of elements that a cache stores for each token; 0 for linear attention, whose state
// does not grow.
func (c BlockConfig) CacheWidth() int {
	if c.Linear != nil || c.Attention.NumHeads < 1 {
		return 0
	}
	k := c.Attention.resolved().cacheOf(graph.KVCacheConfig{})
	if k.ValuesInKeys {
		return k.KeyWidth
	}
	return k.KeyWidth + k.ValueWidth
}

// blockAttention is the attention of a Block.
type blockAttention interface {
	// Attend maps in.Query (…, T, E) to (…, T, E).
	Attend(b *Build, in AttentionInput) (*G.Node, error)
	// newCache returns an empty cache of the layer's widths and type.
	newCache(c graph.KVCacheConfig) (AttentionCache, error)
}

// Block is a transformer's block: attention, then an MLP, each added to its input.
//
//	x = x + attention(norm(x));        x = x + mlp(norm(x))        pre-norm
//	x = norm(x + attention(x));        x = norm(x + mlp(x))        post-norm
//	x = x + norm(attention(x));        x = x + norm(mlp(x))        norms of the outputs
//	x = x + norm(attention(norm(x)));  x = x + norm(mlp(norm(x)))  sandwich
//	x = x + attention(norm(x)) + mlp(norm(x))                      pre-norm, parallel
type Block struct {
	name      string      // in errors
	path      string      // in stages
	config    BlockConfig // resolved
	attention blockAttention
	mlp       *MLP
	norms     [2]partNorms // norms of the attention and of the MLP
}

// partNorms holds the norms around a part of a block, nil for a missing one, and the names of their stages.
type partNorms struct {
	input, output, sum *Norm
	names              partNames
}

// partNames are the names of three stages: a part, its input and its output.
type partNames struct{ part, takes, gives string }

// The parts of blocks.
var (
	attentionPart = partNames{"attention", "x", "attended"}
	crossPart     = partNames{"cross", "after attention", "attended"}
	mlpPart       = partNames{"mlp", "after attention", "fed"}
	parallelMLP   = partNames{"mlp", "x", "fed"}
	mlpAfterCross = partNames{"mlp", "after cross", "fed"}
)

// NewBlock makes the parameters of the parts, under the attention's layout:
//
//	Book, GPT2  ln_1, attn, ln_2, mlp
//	Torch       norm1, self_attn, norm2, and the MLP's linear1 and linear2, as in
//	            nn.TransformerEncoderLayer
//	Llama       input_layernorm, self_attn, post_attention_layernorm, mlp
//
// The norms of SandwichNorm are named
//
//	Book, GPT2  ln_1, ln_1_out, ln_2, ln_2_out
//	Torch       norm1, norm1_out, norm2, norm2_out
//	Llama       input_layernorm, post_attention_layernorm, pre_feedforward_layernorm,
//	            post_feedforward_layernorm, as in Gemma 2
//
// and the norms of OutputNorm are named like the second and the last of these.
func NewBlock(s Scope, c BlockConfig) (*Block, error) {
	return checked(s, "Block", c, newBlock)
}

func newBlock(s Scope, c BlockConfig) (*Block, error) {
	c = c.resolved()
	at := c.Attention.Layout.names()
	m := maker{scope: s}
	l := &Block{name: s.name("Block"), path: s.path, config: c}
	l.norms[0] = l.makeNorms(&m, at.norms[0], at.sandwich[:2])
	if c.Linear != nil {
		l.attention = part(&m, at.attention, newLinearAttention, *c.Linear)
	} else {
		l.attention = part(&m, at.attention, newAttention, c.Attention)
	}
	l.norms[1] = l.makeNorms(&m, at.norms[1], at.sandwich[2:])
	l.mlp = part(&m, at.mlp, newMLP, c.MLP)
	l.norms[0].names, l.norms[1].names = attentionPart, mlpPart
	if c.Parallel {
		l.norms[1].names = parallelMLP
	}
	return done(&m, l)
}

// makeNorms makes the norms around a part: one norm with the name single, or those of a sandwich.
func (l *Block) makeNorms(m *maker, single string, sandwich []string) partNorms {
	norm := func(name string) *Norm { return part(m, name, newNorm, l.config.Norm) }
	switch l.config.NormPlacement {
	case PostNorm:
		return partNorms{sum: norm(single)}
	case OutputNorm:
		return partNorms{output: norm(sandwich[1])}
	case SandwichNorm:
		return partNorms{input: norm(sandwich[0]), output: norm(sandwich[1])}
	}
	return partNorms{input: norm(single)}
}

// Forward maps in.Query (…, T, E) to (…, T, E). in.Key and in.Value must be nil; the attention uses all other fields.
func (l *Block) Forward(b *Build, in AttentionInput) (*G.Node, error) {
	f := begin(b, l.name)
	f.where = l.path
	if in.Key != nil || in.Value != nil {
		f.fail(errorf(l.name, "key: got another sequence than the query, want nil"))
		return f.result(nil)
	}
	attend := func(x *G.Node) (*G.Node, error) {
		in.Query = x
		return l.attention.Attend(b, in)
	}
	feed := func(x *G.Node) (*G.Node, error) { return l.mlp.Forward(b, x) }
	x, scale := f.checkpoint(in.Query), l.config.ResidualScale
	f.stage("x", "", x)
	if l.config.Parallel {
		attended, first := f.part(x, l.norms[0], scale, attend)
		fed, second := f.part(x, l.norms[1], scale, feed)
		sum := f.Of(graph.Add(f.Of(graph.Add(x, attended)), fed))
		return f.result(f.checkpoint(f.stage("after mlp", "x + "+first+" + "+second, sum)))
	}
	x = f.residual(x, l.norms[0], scale, attend)
	x = f.residual(x, l.norms[1], scale, feed)
	return f.result(f.checkpoint(x))
}

// residual returns norm(x + scale·norm(part(norm(x)))); missing norms are left out.
func (f *formula) residual(x *G.Node, n partNorms, scale float64, part func(x *G.Node) (*G.Node, error)) *G.Node {
	y, name := f.part(x, n, scale, part)
	after, sum := "after "+n.names.part, n.names.part+" sum"
	if n.sum == nil {
		sum = after
	}
	y = f.stage(sum, n.names.takes+" + "+name, f.Of(graph.Add(x, y)))
	return f.normed(n.sum, after, sum, y)
}

// part returns the term that a part adds: scale·norm(part(norm(x))). Norms that are nil are left out. name is the name
// of its stage.
func (f *formula) part(x *G.Node, n partNorms, scale float64, part func(x *G.Node) (*G.Node, error)) (
	y *G.Node, name string) {
	x = f.normed(n.input, n.names.part+" norm", n.names.takes, x)
	y, name = f.Of(part(x)), n.names.gives
	if n.output != nil {
		y, name = f.normed(n.output, name+" norm", name, y), name+" norm"
	}
	if scaled := f.scale(y, scale); scaled != y {
		y, name = f.stage(name+" scaled", fmt.Sprintf("%v·%s", scale, name), scaled), name+" scaled"
	}
	return y, name
}

// norm normalises x, unless the norm is nil.
func (f *formula) norm(l *Norm, x *G.Node) *G.Node {
	if l == nil {
		return x
	}
	return f.Of(l.Forward(f.b, x))
}

// scale multiplies x by a factor; 0 means 1.
func (f *formula) scale(x *G.Node, factor float64) *G.Node {
	if factor == 0 || factor == 1 {
		return x
	}
	return f.Of(graph.Scale(x, factor))
}
