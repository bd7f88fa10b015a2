package layers

import (
	"slices"

	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Packing holds the positions of texts that share rows. The zero value means one text per row, from the first token of
// the row; tokens after the text have no effect.
type Packing struct {
	Segments  *G.Node // (B, T), int or int64: the number of each token's text in its row
	Positions *G.Node // (B, T), int or int64: of each token in its text
}

// PackedLoss is Loss for rows that hold several texts: ids, targets, and both nodes of p are (B, T). A token sees the
// tokens of its own text only, and positions start at 0 in each text. The loss and its gradients therefore equal those
// of the texts in separate rows, up to rounding.
func (m *Decoder) PackedLoss(b *Build, ids, targets *G.Node, p Packing) (*G.Node, error) {
	f := begin(b, m.name)
	return f.result(m.loss(f, m.packedVectors(f, ids, p), targets))
}

// SharesRows reports whether PackedLoss accepts rows with several texts: whether the result of each layer does not
// depend on where in a row a text begins. It does for linear attention, whose state runs through the row, sparse
// attention, whose blocks begin with the row, attention with extra keys, functions of scores, and masks other than
// windows.
func (c DecoderConfig) SharesRows() bool {
	for _, b := range c.Blocks {
		b = b.resolved()
		a := b.Attention
		if b.Linear != nil || a.Sparse != nil || a.Score != nil || a.ScoreGraph != nil || a.AddBiasKV || a.AddZeroAttn ||
			!mask.IsRelative(a.Mask) {
			return false
		}
	}
	return true
}

// packedVectors returns the vectors (B, T, E) from which the scores are computed.
func (m *Decoder) packedVectors(f *formula, ids *G.Node, p Packing) *G.Node {
	switch {
	case p == Packing{}:
		return m.vectors(f, ids)
	case !m.config.SharesRows():
		f.fail(errorf(f.name, "segments: got rows that texts share, want rows of their own: the attention of a text would "+
			"depend on where in its row it begins"))
		return f.Of(nil, nil)
	}
	if !f.isIDs("ids", ids, m.config.ContextLength) || !f.isLike("segments", p.Segments, ids) ||
		!f.isLike("positions", p.Positions, ids) {
		return f.Of(nil, nil)
	}
	var positions *G.Node
	if m.positions != nil {
		positions = f.Of(graph.Embedding(f.node(m.positions.weight), p.Positions)) // (B, T, E)
	}
	return m.transform(f, ids, positions, func(i int) AttentionInput {
		in := AttentionInput{Mask: mask.Segments{Query: p.Segments}}
		if m.config.Block(i).Attention.RoPE != nil {
			in.Positions = p.Positions
		}
		return in
	})
}

// isLike fails unless the node holds integers of the shape of ids.
func (f *formula) isLike(arg string, x, ids *G.Node) bool {
	if !f.isNode(arg, x) {
		return false
	}
	if !slices.Equal(x.Shape(), ids.Shape()) {
		return f.fail(errorf(f.name, "%s: shape %v, want that of the ids, %v", arg, x.Shape(), ids.Shape()))
	}
	if dt := x.Dtype(); dt != tensor.Int && dt != tensor.Int64 {
		return f.fail(errorf(f.name, "%s: got %v, want int or int64", arg, dt))
	}
	return true
}
