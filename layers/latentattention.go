package layers

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// LatentAttention is attention of a sequence to itself whose keys and values all come from one narrow latent of each
// token, and one rotary key that all heads share (multi-head latent attention: DeepSeek-AI 2024, "DeepSeek-V2"):
//
//	c      = norm(x·W_DKV)                          (T, N)
//	k, v   = [c·W_UK; rope(x·W_KR)], c·W_UV         of each head (T, P+R), (T, Dv)
//	q      = [x·W_Q; rope(x·W_QR)]                  of each head (T, P+R), of norm(x·W_DQ) with QLoraRank
//	out    = attention(q, k, v)·W_O
//
// A cache holds c and the rotary key alone. With one the heads' keys and values are never made: W_UK goes over to the
// query, and W_UV to the output, [q·W_UKᵀ; …]·[c; …]ᵀ and (weights·c)·W_UV, which is equal up to rounding.
type LatentAttention struct {
	plain, absorbed *Attention // with keys and values of the heads, and with a cache
}

// latents are the projections of a LatentAttention.
type latents struct {
	rank, nope, rope, value int // N, P, R and Dv

	queryDown, query *Linear // queryDown and queryNorm are nil without QLoraRank
	queryNorm        *Norm
	down, up         *Linear // up has W_UK and W_UV of each head
	norm             *Norm
	absorbed         bool
}

// NewLatentAttention makes the parameters, with the names of Hugging Face's deepseek_v2 and deepseek_v3:
//
//	q_proj.weight (H·(P+R), E), or with QLoraRank
//	q_a_proj.weight (QLoraRank, E), q_a_layernorm.weight (QLoraRank), q_b_proj.weight (H·(P+R), QLoraRank)
//	kv_a_proj_with_mqa.weight (N+R, E), kv_a_layernorm.weight (N)
//	kv_b_proj.weight (H·(P+Dv), N)
//	o_proj.weight (OutDim, H·Dv), o_proj.bias with OutBias
func NewLatentAttention(s Scope, c LatentAttentionConfig) (*LatentAttention, error) {
	return checked(s, "LatentAttention", c, newLatentAttention)
}

func newLatentAttention(s Scope, c LatentAttentionConfig) (*LatentAttention, error) {
	c = c.resolved()
	a := c.attention().resolved()
	l := &Attention{name: s.name("LatentAttention"), scope: s, config: a, layout: a.layout()}
	m := maker{scope: s}
	linear := func(name string, in, out int) *Linear {
		return part(&m, name, newLinear, LinearConfig{In: in, Out: out, layout: a.Layout})
	}
	norm := func(name string, width int) *Norm {
		return part(&m, name, newNorm, NormConfig{EmbedDim: width, Kind: RMSNorm})
	}
	p := latents{rank: c.KVLoraRank, nope: c.QKNopeHeadDim, rope: c.QKRopeHeadDim, value: c.VHeadDim}
	if c.QLoraRank > 0 {
		p.queryDown, p.queryNorm = linear("q_a_proj", a.EmbedDim, c.QLoraRank), norm("q_a_layernorm", c.QLoraRank)
		p.query = linear("q_b_proj", c.QLoraRank, a.queryWidth())
	} else {
		p.query = linear("q_proj", a.EmbedDim, a.queryWidth())
	}
	p.down = linear("kv_a_proj_with_mqa", a.EmbedDim, p.rank+p.rope)
	p.norm = norm("kv_a_layernorm", p.rank)
	p.up = linear("kv_b_proj", p.rank, a.NumHeads*(p.nope+p.value))
	l.makeOutput(&m)
	absorbed, q := *l, p
	q.absorbed = true
	l.latent, absorbed.latent = &p, &q
	c0 := &absorbed.config
	c0.NumKVHeads, c0.HeadDim, c0.ValueDim = 1, p.rank+p.rope, p.rank
	return done(&m, &LatentAttention{plain: l, absorbed: &absorbed})
}

// Forward maps x ([B,] T, EmbedDim) to ([B,] T, OutDim).
func (l *LatentAttention) Forward(b *Build, x *G.Node) (*G.Node, error) {
	return l.Attend(b, AttentionInput{Query: x})
}

// Attend maps in.Query ([B,] T, EmbedDim) to ([B,] T, OutDim). Key and Value are nil.
func (l *LatentAttention) Attend(b *Build, in AttentionInput) (*G.Node, error) {
	if in.Cache != nil {
		return l.absorbed.Attend(b, in)
	}
	return l.plain.Attend(b, in)
}

// Weights returns the attention weights (…, H, T, T) of an input; see Attention.Weights.
func (l *LatentAttention) Weights(b *Build, in AttentionInput) (*G.Node, error) {
	return l.plain.Weights(b, in)
}

// projectLatent maps the input to queries (…, T, H·(P+R)), keys and values (…, T, H·Dv). Absorbed they are those of the
// latents: (…, T, H·(N+R)), one head's keys (…, T, N+R), and values (…, T, N).
func (s *step) projectLatent() (q, k, v *G.Node) {
	p, x, heads, n := s.latent, s.in.Query, s.config.NumHeads, s.tokens()
	if s.in.Key != x || s.in.Value != x {
		s.fail(errorf(s.formula.name, "key: got another sequence than the query, want nil"))
		return x, x, x
	}
	narrow := x
	if p.queryDown != nil {
		narrow = s.norm(p.queryNorm, p.queryDown.apply(s.formula, x)) // (…, T, QLoraRank)
	}
	q = p.query.apply(s.formula, narrow)                        // (…, T, H·(P+R))
	down := s.split(p.down.apply(s.formula, x), p.rank, p.rope) // (…, T, N), (…, T, R)
	latent, turned := s.norm(p.norm, down[0]), down[1]
	if p.absorbed {
		return s.absorbQuery(q), s.Of(graph.Concat(latent, turned)), latent
	}
	up := s.reshape(p.up.apply(s.formula, latent), n*heads, p.nope+p.value)
	each := s.split(up, p.nope, p.value)                                     // (B·T·H, P), (B·T·H, Dv)
	turned = s.Of(graph.RepeatHeads(s.reshape(turned, n, 1, p.rope), heads)) // (B·T·H, 1, R)
	k = s.Of(graph.Concat(each[0], s.reshape(turned, n*heads, p.rope)))      // (B·T·H, P+R)
	return q, s.likeQuery(k, s.config.queryWidth()), s.likeQuery(each[1], s.config.contextWidth())
}

// tokens returns B·T.
func (s *step) tokens() int { return s.in.Query.Shape().TotalSize() / s.config.EmbedDim }

// likeQuery returns x with the leading axes of the query and a width.
func (s *step) likeQuery(x *G.Node, width int) *G.Node {
	shape := s.in.Query.Shape().Clone()
	shape[len(shape)-1] = width
	return s.reshape(x, shape...)
}

// reshape returns x in another shape.
func (f *formula) reshape(x *G.Node, shape ...int) *G.Node {
	return f.Of(G.Reshape(x, tensor.Shape(shape)))
}
