package layers

import (
	"cmp"
	"math"

	"attention/graph"
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// LatentConfig sizes multi-head latent attention of a sequence to itself (DeepSeek-AI 2024, "DeepSeek-V2"): the keys
// and values of all heads come from one narrow latent of each token, and the heads share one rotary key.
//
//	c    = norm(x·W_DKV)                    (T, N)
//	k, v = [c·W_UK; rope(x·W_KR)], c·W_UV   of each head (T, P+R), (T, Dv)
//	q    = [x·W_Q; rope(x·W_QR)]            of each head (T, P+R), of norm(x·W_DQ) with QLoraRank
//
// A cache holds c and the rotary key alone. With a cache, the heads' keys and values are never made: the query is
// multiplied by W_UK, and the output by W_UV, [q·W_UKᵀ; …]·[c; …]ᵀ and (weights·c)·W_UV, which is equal up to rounding.
//
// Sizes in JSON and parameters have the names of Hugging Face's deepseek_v2 and deepseek_v3, and the layout is Llama:
//
//	q_proj.weight (H·(P+R), E), or with QLoraRank
//	q_a_proj.weight (QLoraRank, E), q_a_layernorm.weight (QLoraRank), q_b_proj.weight (H·(P+R), QLoraRank)
//	kv_a_proj_with_mqa.weight (N+R, E), kv_a_layernorm.weight (N)
//	kv_b_proj.weight (H·(P+Dv), N)
//
// The attention's RoPE configures the rotation of the rotary parts: all of their dimensions, in interleaved pairs. A
// Scale of 0 means 1/√(P+R).
type LatentConfig struct {
	QLoraRank     int `json:"q_lora_rank,omitempty"`      // width of the queries' latent; 0 means none, as in V2-Lite
	KVLoraRank    int `json:"kv_lora_rank,omitempty"`     // N, width of keys' and values' latent; 0 means 4·P
	QKNopeHeadDim int `json:"qk_nope_head_dim,omitempty"` // P, of a head's plain queries, keys; 0 means EmbedDim/NumHeads
	// QKRopeHeadDim is R, the even width of a head's rotary queries and of the one rotary key; 0 means half of P.
	QKRopeHeadDim int `json:"qk_rope_head_dim,omitempty"`
	VHeadDim      int `json:"v_head_dim,omitempty"` // Dv, of a head's values; 0 means P
}

// validateLatent checks the sizes of latents.
func (c AttentionConfig) validateLatent() error {
	if c.Latent == nil {
		return nil
	}
	const of = "Latent."
	sizes := []string{of + "QLoraRank", of + "KVLoraRank", of + "QKNopeHeadDim", of + "QKRopeHeadDim", of + "VHeadDim"}
	if err := cmp.Or(config.AtLeast(c, 0, sizes...), config.AtMost(c, maxElements/8, sizes...)); err != nil {
		return err
	}
	if c.Latent.QKNopeHeadDim == 0 && c.EmbedDim%c.NumHeads != 0 {
		return config.Errorf(c, "NumHeads", "got %d for %s=%d, want a divisor of it, or %s", c.NumHeads,
			config.Field("EmbedDim"), c.EmbedDim, config.Field(of+"QKNopeHeadDim"))
	}
	if n := c.resolved().Latent.QKRopeHeadDim; n%2 != 0 {
		return config.Errorf(c, of+"QKRopeHeadDim", "got %d, want an even number", n)
	}
	return nil
}

// withLatents returns c with the sizes of its latents, and of its heads by them.
func (c AttentionConfig) withLatents() AttentionConfig {
	l := *c.Latent
	l.QKNopeHeadDim = cmp.Or(l.QKNopeHeadDim, c.EmbedDim/c.NumHeads)
	l.QKRopeHeadDim = cmp.Or(l.QKRopeHeadDim, max(2, l.QKNopeHeadDim/4*2))
	l.VHeadDim = cmp.Or(l.VHeadDim, l.QKNopeHeadDim)
	l.KVLoraRank = cmp.Or(l.KVLoraRank, 4*l.QKNopeHeadDim)
	turn := graph.RoPEConfig{}
	if c.RoPE != nil {
		turn = *c.RoPE
	}
	turn.Dims, turn.AtEnd, turn.Interleaved = l.QKRopeHeadDim, true, true
	c.Latent, c.RoPE, c.HeadDim, c.ValueDim = &l, &turn, l.QKNopeHeadDim+l.QKRopeHeadDim, l.VHeadDim
	c.Scale = cmp.Or(c.Scale, 1/math.Sqrt(float64(c.HeadDim)))
	return c
}

// cached returns the resolved config of a call with a cache: latent attention has one head of keys and values then, the
// latents with their rotary keys and the latents themselves.
func (c AttentionConfig) cached() AttentionConfig {
	if l := c.Latent; l != nil {
		c.NumKVHeads, c.HeadDim, c.ValueDim = 1, l.KVLoraRank+l.QKRopeHeadDim, l.KVLoraRank
	}
	return c
}

// latents is the projection of latent attention.
type latents struct {
	rank, nope, rope, value int // N, P, R and Dv

	queryDown, query *Linear // queryDown and queryNorm are nil without QLoraRank
	queryNorm        *Norm
	down, up         *Linear // up has W_UK and W_UV of each head
	norm             *Norm
}

func newLatents(m *maker, c AttentionConfig) *latents {
	linear := func(name string, in, out int) *Linear {
		return part(m, name, newLinear, LinearConfig{InFeatures: in, OutFeatures: out, layout: Llama})
	}
	norm := func(name string, width int) *Norm {
		return part(m, name, newNorm, NormConfig{EmbedDim: width, Kind: RMSNorm})
	}
	of := c.Latent
	p := &latents{rank: of.KVLoraRank, nope: of.QKNopeHeadDim, rope: of.QKRopeHeadDim, value: of.VHeadDim}
	if rank := of.QLoraRank; rank > 0 {
		p.queryDown, p.queryNorm = linear("q_a_proj", c.EmbedDim, rank), norm("q_a_layernorm", rank)
		p.query = linear("q_b_proj", rank, c.queryWidth())
	} else {
		p.query = linear("q_proj", c.EmbedDim, c.queryWidth())
	}
	p.down = linear("kv_a_proj_with_mqa", c.EmbedDim, p.rank+p.rope)
	p.norm = norm("kv_a_layernorm", p.rank)
	p.up = linear("kv_b_proj", p.rank, c.NumHeads*(p.nope+p.value))
	return p
}

// project maps the input to queries (…, T, H·(P+R)), keys and values (…, T, H·Dv). With a cache they are those of the
// latents: (…, T, H·(N+R)), one head's keys (…, T, N+R), and values (…, T, N).
func (p *latents) project(s *step) (q, k, v *G.Node) {
	x, heads, n := s.in.Query, s.config.NumHeads, s.tokens()
	narrow := x
	if p.queryDown != nil {
		narrow = s.norm(p.queryNorm, p.queryDown.apply(s.formula, x)) // (…, T, QLoraRank)
	}
	q = p.query.apply(s.formula, narrow)                        // (…, T, H·(P+R))
	down := s.split(p.down.apply(s.formula, x), p.rank, p.rope) // (…, T, N), (…, T, R)
	latent, turned := s.norm(p.norm, down[0]), down[1]
	if s.in.Cache != nil {
		s.absorbed = p
		return p.absorb(s, q), s.Of(graph.Concat(latent, turned)), latent
	}
	up := s.reshape(p.up.apply(s.formula, latent), n*heads, p.nope+p.value)
	each := s.split(up, p.nope, p.value)                                     // (B·T·H, P), (B·T·H, Dv)
	turned = s.Of(graph.RepeatHeads(s.reshape(turned, n, 1, p.rope), heads)) // (B·T·H, 1, R)
	k = s.Of(graph.Concat(each[0], s.reshape(turned, n*heads, p.rope)))      // (B·T·H, P+R)
	return q, s.likeQuery(k, s.config.queryWidth()), s.likeQuery(each[1], s.config.contextWidth())
}

// absorb returns the queries of the latents (…, T, H·(N+R)): of each head q·W_UK and the rotary part.
func (p *latents) absorb(s *step, q *G.Node) *G.Node {
	heads := s.config.NumHeads
	parts := s.split(s.headsFirst(q, heads*(p.nope+p.rope)), p.nope, p.rope) // (H, B·T, P), (H, B·T, R)
	none := s.filled(0, heads, s.tokens(), p.value)                          // of the rows of W_UV
	wide := s.Of(graph.Concat(parts[0], none))                               // (H, B·T, P+Dv)
	latent := s.Of(s.b.precision.MatMul(wide, p.upOfHeads(s)))               // (H, B·T, N)
	q = s.Of(graph.MergeHeads(s.Of(graph.Concat(latent, parts[1]))))         // (B·T, H·(N+R))
	return s.likeQuery(q, heads*(p.rank+p.rope))
}

// valuesOf returns the heads' outputs (…, T, H·Dv), from sums of latents (…, T, H·N): of each head sum·W_UVᵀ.
func (p *latents) valuesOf(s *step, sums *G.Node) *G.Node {
	heads := s.config.NumHeads
	both := s.Of(s.b.precision.Scores(s.headsFirst(sums, heads*p.rank), p.upOfHeads(s))) // (H, B·T, P+Dv)
	return s.likeQuery(s.Of(graph.MergeHeads(s.split(both, p.nope, p.value)[1])), heads*p.value)
}

// upOfHeads returns W_UK and W_UV of each head, (H, P+Dv, N), with what an adapter adds.
func (p *latents) upOfHeads(s *step) *G.Node {
	heads := s.config.NumHeads
	w := s.Of(graph.Rows(s.merged(p.up.weight), 0, heads*(p.nope+p.value))) // all of them, widened if they are stored
	return s.reshape(w, heads, p.nope+p.value, p.rank)
}

// headsFirst returns x (…, T, H·D) as (H, B·T, D).
func (s *step) headsFirst(x *G.Node, width int) *G.Node {
	return s.Of(graph.SplitHeads(s.reshape(x, s.tokens(), width), s.config.NumHeads))
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
