package graph

import (
	"fmt"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// FusedAttentionHeadStats returns the statistics of one head's weights, in which H is 1: of the head whose number,
// from 0 to H − 1, is the value of head, int or int64, when the graph runs. They are those that FusedAttentionStats
// gives of this head among all, without values and in memory of one head: one graph serves all heads. Rounding is less:
// the log-sum-exp is a sum of tiles, each summed up by itself. c.Heads is at least 1.
func FusedAttentionHeadStats(q, k, head *G.Node, c AttentionConfig, offset int) (*AttentionStats, error) {
	const name = "FusedAttentionHeadStats"
	c.Dropout = DropoutConfig{}
	a, err := c.resolve(name, q, k, k)
	if err != nil {
		return nil, err
	}
	if c.Heads < 1 {
		return nil, a.errorf("heads: got %d, want at least 1", c.Heads)
	}
	if err := checkArgs(name, []arg{{name: "q"}, {name: "head", integer: true}}, G.Nodes{q, head}); err != nil {
		return nil, err
	}
	if head.Shape().TotalSize() != 1 {
		return nil, &ShapeError{name, "head", head.Shape(), "()"}
	}
	if err := a.checkOffset(offset); err != nil {
		return nil, err
	}
	f, in := newFused(a, separate, q, k, k)
	f.in[2], in[2] = fusedInput{arg{name: "head", integer: true}, headNumber}, head
	f.OneHead, f.Observed, f.Offset = true, true, offset
	both, err := applyTyped(fusedForward[float32]{fused: f}, fusedForward[float64]{fused: f}, in...)
	if err != nil {
		return nil, err
	}
	rows := a.scores
	rows.H = 1
	return f.statistics(in, both, rows.RowShape())
}

// head returns the number of the one head, which is where values are otherwise.
func (f fused) head(in []*tensor.Dense) int { return int(dense.Ints(in[2])[0]) }

// checkHead refuses a number that no head has.
func (f fused) checkHead(in []*tensor.Dense) error {
	if h := dense.Ints(in[2])[0]; h < 0 || h >= int64(f.Heads) {
		return fmt.Errorf("graph: FusedAttentionHeadStats: head: got %d, want from 0 to H−1=%d", h, f.Heads-1)
	}
	return nil
}

// fromHead makes the arguments of all heads begin at the arguments of one.
func fromHead[F kernel.Float](f fused, x *kernel.QKV[F], a *kernel.Attention, head int) {
	x.Q, x.K = x.Q[head*a.D:], x.K[head/(f.Heads/f.KVHeads)*a.D:]
	if x.Bias != nil {
		x.Bias = x.Bias[head*a.BiasAt.Head:]
	}
	if x.Relative != nil {
		x.Relative = x.Relative[head*a.RelativeAt.Head:]
	}
	if x.Sinks != nil {
		x.Sinks = x.Sinks[head:]
	}
}
