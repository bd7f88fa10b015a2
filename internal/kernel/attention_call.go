package kernel

// An AttentionCall is an attention with its operands and the results of its forward.
type AttentionCall[F Float] struct {
	Attention
	In  QKV[F]
	Out []F // (B,H,T,DV) at OutputAt
	// LSE has the RowNumbers of each row, (RowNumbers,B,H,T): its log-sum-exp, then the shift and the factor with which
	// weight(s) = factor·exp(score(s) − shift). Shift and factor are those of the forward: about the largest score, and
	// 1/Σ exp(score − shift), so that the weights do not suffer from the rounding of the log-sum-exp. The factor of a
	// saturated row is negative.
	LSE   []F
	Stats RowStatistics[F] // computed by Forward too, unless it is zero
}

// RowNumbers is the number of values per row that an AttentionCall stores in LSE.
const RowNumbers = 3

// QKV holds the operands of an attention, or their gradients. Bias, Relative and Sinks (H) may be nil if there are
// none.
type QKV[F Float] struct {
	Q, K, V, Bias, Relative, Sinks []F
	Forget                         Forgetting
}

// check panics unless every element that the forward reads or writes is inside its slice.
func (c *AttentionCall[F]) check() {
	c.checkScores()
	c.checkHeads("attention: v", len(c.In.V), c.K, c.S, c.DV, c.ValueAt)
	c.checkHeads("attention: out", len(c.Out), c.H, c.T, c.DV, c.OutputAt)
	for _, x := range c.Stats.slices() {
		if c.watched() && len(x) < c.B*c.H*c.T {
			panic("kernel: attention: statistics: slice is too short")
		}
	}
}

// checkScores is check for the arguments of weights: all except values, output and statistics.
func (c *AttentionCall[F]) checkScores() {
	if min(c.B, c.H, c.T, c.S, c.D, c.DV, c.Unbiased, c.S-c.Unbiased) < 0 {
		panic("kernel: attention: negative dimension")
	}
	if c.K < 1 || c.H%c.K != 0 {
		panic("kernel: attention: the key/value heads do not divide the query heads")
	}
	if !(c.Softcap >= 0) || !(c.Dropout.P >= 0 && c.Dropout.P < 1) {
		panic("kernel: attention: softcap or dropout outside its range")
	}
	if c.Sigmoid && c.In.Sinks != nil {
		panic("kernel: attention: sinks beside a sigmoid")
	}
	c.checkHeads("attention: q", len(c.In.Q), c.H, c.T, c.D, c.QueryAt)
	c.checkHeads("attention: k", len(c.In.K), c.K, c.S, c.D, c.KeyAt)
	if len(c.LSE) < RowNumbers*c.B*c.H*c.T {
		panic("kernel: attention: lse: slice is too short")
	}
	c.In.checkAdded(&c.Attention, "")
}

// checkGradients panics unless each gradient is as long as its operand. A gradient of nil is not computed.
func (c *AttentionCall[F]) checkGradients(grad *QKV[F], dout []F) {
	c.checkHeads("attention: dout", len(dout), c.H, c.T, c.DV, c.OutputAt)
	if grad.Q != nil {
		c.checkHeads("attention: q gradient", len(grad.Q), c.H, c.T, c.D, c.QueryAt)
	}
	if grad.K != nil {
		c.checkHeads("attention: k gradient", len(grad.K), c.K, c.S, c.D, c.KeyAt)
	}
	if grad.V != nil {
		c.checkHeads("attention: v gradient", len(grad.V), c.K, c.S, c.DV, c.ValueAt)
	}
	grad.checkAdded(&c.Attention, " gradient")
}

// checkHeads panics unless the rows of all heads are inside a slice.
func (a *Attention) checkHeads(name string, length, heads, rows, width int, at HeadLayout) {
	checkSteps(name, length, width, []int{a.B, heads, rows}, []int{at.Batch, at.Head, at.Row})
}

// checkAdded makes sure that biases and sinks, or their gradients, are long enough.
func (in *QKV[F]) checkAdded(a *Attention, of string) {
	if in.Bias != nil {
		at := a.BiasAt
		counts, steps := []int{a.B, a.H, a.T, a.biased()}, []int{at.Batch, at.Head, at.Query, at.Key}
		checkSteps("attention: bias"+of, len(in.Bias), 1, counts, steps)
	}
	if at := a.RelativeAt; in.Relative != nil && a.T > 0 && a.biased() > 0 {
		if at.Head < 0 || at.Zero-a.biased()+1 < 0 || (a.H-1)*at.Head+a.T-1+at.Zero >= len(in.Relative) {
			panic("kernel: attention: relative bias" + of + ": slice is too short")
		}
	}
	if in.Sinks != nil && len(in.Sinks) < a.H {
		panic("kernel: attention: sinks" + of + ": slice is too short")
	}
	in.Forget.check(a, of)
}
