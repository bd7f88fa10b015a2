package layers

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// NewCache returns an empty cache of latents and rotary keys; c has the other settings.
func (l *LatentAttention) NewCache(c graph.KVCacheConfig) (*graph.KVCache, error) {
	c.ValuesInKeys = true // the latents, before the rotary key
	return l.absorbed.NewCache(c)
}

func (l *LatentAttention) newCache(c graph.KVCacheConfig) (AttentionCache, error) {
	return l.NewCache(c)
}

// absorbQuery returns the queries of the latents (…, T, H·(N+R)): of each head q·W_UK and the rotary part.
func (s *step) absorbQuery(q *G.Node) *G.Node {
	p, heads := s.latent, s.config.NumHeads
	parts := s.split(s.headsFirst(q, heads*(p.nope+p.rope)), p.nope, p.rope) // (H, B·T, P), (H, B·T, R)
	none := s.filled(0, heads, s.tokens(), p.value)                          // of the rows of W_UV
	wide := s.Of(graph.Concat(parts[0], none))                               // (H, B·T, P+Dv)
	latent := s.Of(s.b.precision.MatMul(wide, s.upOfHeads()))                // (H, B·T, N)
	q = s.Of(graph.MergeHeads(s.Of(graph.Concat(latent, parts[1]))))         // (B·T, H·(N+R))
	return s.likeQuery(q, heads*(p.rank+p.rope))
}

// valuesOf returns the heads' outputs (…, T, H·Dv), from sums of latents (…, T, H·N): of each head sum·W_UVᵀ.
func (s *step) valuesOf(sums *G.Node) *G.Node {
	p, heads := s.latent, s.config.NumHeads
	both := s.Of(s.b.precision.Scores(s.headsFirst(sums, heads*p.rank), s.upOfHeads())) // (H, B·T, P+Dv)
	return s.likeQuery(s.Of(graph.MergeHeads(s.split(both, p.nope, p.value)[1])), heads*p.value)
}

// headsFirst returns x (…, T, H·D) as (H, B·T, D).
func (s *step) headsFirst(x *G.Node, width int) *G.Node {
	return s.Of(graph.SplitHeads(s.reshape(x, s.tokens(), width), s.config.NumHeads))
}

// upOfHeads returns W_UK and W_UV of each head, (H, P+Dv, N), with what an adapter adds.
func (s *step) upOfHeads() *G.Node {
	p, heads := s.latent, s.config.NumHeads
	w := s.Of(graph.Rows(s.merged(p.up.weight), 0, heads*(p.nope+p.value))) // all of them, widened if they are stored
	return s.reshape(w, heads, p.nope+p.value, p.rank)
}
