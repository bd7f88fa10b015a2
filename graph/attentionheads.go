package graph

import (
	"fmt"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// JoinAttentionStats joins the statistics of attentions of one head each, over the same
// batch, to the statistics of one attention with these heads.
func JoinAttentionStats(heads ...*AttentionStats) (*AttentionStats, error) {
	if len(heads) == 0 {
		return nil, fmt.Errorf("graph: JoinAttentionStats: heads: got none, want at least one")
	}
	all := &AttentionStats{heads: heads}
	for i, to := range append(all.rows(), &all.LogSumExp) {
		nodes := make(G.Nodes, len(heads))
		for j, h := range heads {
			if h == nil {
				return nil, fmt.Errorf("graph: JoinAttentionStats: heads[%d]: got nil, want statistics", j)
			}
			nodes[j] = *append(h.rows(), &h.LogSumExp)[i]
		}
		var err error
		if *to, err = joinHeads(1, nodes); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// joinHeads joins nodes (…, 1, …), one of each head, to (…, H, …). axes is the number of axes behind the heads'.
func joinHeads(axes int, heads G.Nodes) (*G.Node, error) {
	n := len(heads)
	return applyTyped(joinedHeads[float32]{Axes: axes, N: n}, joinedHeads[float64]{Axes: axes, N: n}, heads...)
}

type joinedHeads[F kernel.Float] struct {
	passesNone
	Axes, N int
}

func (o joinedHeads[F]) spec() (string, []arg) {
	args := make([]arg, o.N)
	for i := range args {
		args[i] = arg{name: fmt.Sprintf("heads[%d]", i), fixed: true}
	}
	return "JoinHeads", args
}

func (o joinedHeads[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	first := in[0]
	at := first.Dims() - 1 - o.Axes
	for i, s := range in {
		if at < 0 || !s.Eq(first) || s[at] != 1 {
			return nil, &ShapeError{"JoinHeads", fmt.Sprintf("heads[%d]", i), s, "that of one head, as the others'"}
		}
	}
	shape := first.Clone()
	shape[at] = o.N
	return shape, nil
}

func (o joinedHeads[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	shape := in[0].Shape()
	n := shape[len(shape)-o.Axes:].TotalSize()
	y := dense.Floats[F](out)
	for i := range in {
		x := dense.Floats[F](in[i])
		for b := 0; b*n < len(x); b++ {
			copy(y[(b*o.N+i)*n:][:n], x[b*n:])
		}
	}
	return nil
}

// fillsInfinity reports that a row that sees nothing has no largest score.
func (joinedHeads[F]) fillsInfinity() bool { return true }
