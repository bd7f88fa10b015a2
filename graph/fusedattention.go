package graph

import (
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// FusedResult is the result of a FusedAttention.
type FusedResult struct {
	Out   *G.Node         // (…, T, H·Dv); nil with Head
	Stats *AttentionStats // with Stats or Head
}

// FusedAttention returns the out of Attention for the same arguments. One op computes it tile by tile with an online
// softmax and never stores the (T, S) weights (FlashAttention: Dao et al. 2022). 2022). Its memory grows linearly with
// T, and tiles that the mask hides cost nothing. Its backward computes the weights again from each row's log
// Σexp(score), which the forward keeps. A bias from Detach gets no gradient.
func FusedAttention(in FusedInputs, c AttentionConfig) (r FusedResult, err error) {
	if err := in.check(); err != nil {
		return r, err
	}
	if in.isCached() {
		r.Out, err = in.attendToCache(c)
		return r, err
	}
	a, err := in.resolve(c)
	if err != nil {
		return r, err
	}
	return a.fuse(in)
}

// fuse applies the ops of a FusedAttention. The backward also needs some numbers of each row, which the op stores
// behind its output.
func (a *attentionArgs) fuse(x FusedInputs) (r FusedResult, err error) {
	f, in := newFused(a, x)
	var all *G.Node
	if f.OneHead {
		all, err = applyTyped(keeping[float32]{Of: fusedAttention[float32]{f}},
			keeping[float64]{Of: fusedAttention[float64]{f}}, in...)
	} else {
		r.Out, all, err = applyKept(fusedAttention[float32]{f}, fusedAttention[float64]{f}, in...)
	}
	if err == nil && f.Observed {
		r.Stats, err = f.statistics(append(in, all))
	}
	return r, err
}

// fusedAttention is the op of out (…, T, H·Dv). The vector continues with the numbers of the rows that the kernel
// keeps, each (…, H, T), first the log-sum-exps of the scores, and, if observed, the row statistics (…, H, T). It is an
// op because Attention, its formula, takes 3 times as long and 35 times the memory at T = 1024 with 8 causal heads
// (BenchmarkFormulas/FusedAttention).
type fusedAttention[F kernel.Float] struct{ fused }

func (o fusedAttention[F]) spec() spec {
	return spec{name: "FusedAttention", args: o.args, precision: o.Precision}
}

func (o fusedAttention[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	if key := in[dropoutKey]; key != nil && key.TotalSize() != 1 {
		return nil, &ShapeError{"Dropout", "key", key, "()"}
	}
	q, _, v := o.heads(in)
	out := q.Clone()
	out[len(out)-1] = last(v) / o.KVHeads * max(o.Heads, 1)
	return out, nil
}

func (o fusedAttention[F]) keeps(in []tensor.Shape) int {
	a, _ := o.sizes(in)
	rows := a.B * a.H * a.T
	if o.Observed {
		return rows * (kernel.RowNumbers + rowStatistics)
	}
	return rows * kernel.RowNumbers
}

func (o fusedAttention[F]) compute(all vector[F], in []*tensor.Dense) error {
	a, err := o.bind(in)
	if err != nil {
		return err
	}
	rows := a.B * a.H * a.T
	c := kernel.AttentionCall[F]{Attention: a, In: numbers[F](o.fused, &a, in), Out: all.next(rows * a.DV), LSE: all}
	if o.Observed {
		c.Stats = statsOf(c.LSE[kernel.RowNumbers*rows:], rows, o.Offset)
	}
	c.Forward()
	return nil
}

// With P = softmax(scores), W = dropout(P), out = W·v, D = Σ dout⊙out:
// dv = Wᵀ·dout, dbias = P⊙(dropout(dout·vᵀ) − D), dscores = slope(dbias)·scale,
// dq = dscores·k, dk = dscoresᵀ·q, dgate[i] = Σ dbias[t,s] over the t ≥ i and s < i.
// With P = sigmoid(scores): dbias = P⊙(1 − P)⊙dropout(dout·vᵀ).
func (o fusedAttention[F]) gradients(d vector[F], in []*tensor.Dense, all vector[F], dout []F) error {
	a, err := o.bind(in)
	if err != nil {
		return err
	}
	grad, gates := qkvOf(o.fused, func(i int) []F {
		if !o.args[i].differentiated() {
			return nil
		}
		return d.like(in[i])
	})
	if gates != nil {
		grad.Forget = a.NewForgetting()
	}
	c := kernel.AttentionCall[F]{Attention: a, In: numbers[F](o.fused, &a, in), Out: all.next(len(dout)), LSE: all}
	c.Backward(grad, dout)
	if gates != nil {
		kernel.GateGradients(&a, gates, gateLayout(o.Heads > 0, a.H, a.S-a.Unbiased), grad.Forget)
	}
	return nil
}
