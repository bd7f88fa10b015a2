package graph

import (
	"fmt"

	"attention/internal/dense"
	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// head returns the number of the one head.
func (f fused) head(in []*tensor.Dense) int { return int(dense.Ints(in[headNumber])[0]) }

// checkHead refuses a number that no head has.
func (f fused) checkHead(in []*tensor.Dense) error {
	if h := dense.Ints(in[headNumber])[0]; h < 0 || h >= int64(f.Heads) {
		return fmt.Errorf("graph: FusedAttention: head: got %d, want from 0 to H−1=%d", h, f.Heads-1)
	}
	return nil
}

// selectHead makes the arguments of all heads begin at the arguments of one.
func selectHead[F kernel.Float](f fused, x *kernel.QKV[F], a *kernel.Attention, head int) {
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
