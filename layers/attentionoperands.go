package layers

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// AttentionOperands are the nodes that an attention's scores and output are computed from,
// with heads side by side: of differential attention both softmaxes of each head, as heads of
// their own. graph.Attention and graph.FusedAttention map them to the heads' outputs.
type AttentionOperands struct {
	ProjectedQuery *G.Node // (…, T, H·D), before QKNorm and RoPE
	ProjectedKey   *G.Node // (…, S, K·D)

	Query *G.Node // (…, T, H·D), normalised and rotated
	Key   *G.Node // (…, S+extra, K·D), normalised and rotated, with the keys that AddBiasKV and AddZeroAttn add
	Value *G.Node // (…, S+extra, K·Dv)

	// Additive is v (1, A) of additive attention, whose scores are v·tanh(Query + Key) with Query (…, T, A) and Key
	// (…, S, A); nil for dot products.
	Additive *G.Node

	Config graph.AttentionConfig // without dropout
}

// Operands returns the operands of the call. Those that are in the graph already, such as
// the projections, are not computed twice.
func (c *AttentionCall) Operands() (AttentionOperands, error) {
	if err := c.checkNoCache("operands"); err != nil {
		return AttentionOperands{}, err
	}
	s := newStep(c, fused)
	o := s.operands()
	if _, err := s.result(o.Query); err != nil {
		return AttentionOperands{}, err
	}
	return o, nil
}

// operands builds the operands of a step. The mask of one that is sparse has the blocks that are chosen.
func (s *step) operands() (o AttentionOperands) {
	o = s.projectedOperands()
	if o.Config.Sparse != nil && s.Err() == nil {
		m, err := graph.SparseMask(o.Query, o.Key, o.Config)
		s.Of(o.Query, err)
		o.Config.Mask, o.Config.Sparse = m, nil
	}
	return o
}

// projectedOperands is operands without the choice of blocks.
func (s *step) projectedOperands() (o AttentionOperands) {
	q, k, v := s.projection.project(s)
	o.ProjectedQuery, o.ProjectedKey = q, k
	o.Query, o.Key, o.Value = s.positioned(q, k, v)
	o.Value = s.values(o.Value)
	o.Config = s.attention()
	o.Config.Dropout = graph.DropoutConfig{}
	return o
}
