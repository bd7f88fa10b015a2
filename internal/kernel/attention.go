package kernel

import "math"

// Attention holds the sizes and rules of one scaled dot-product attention with H query heads that share K
// key/value heads: query head h uses key/value head h/(H/K). For each batch b, head h and query t
//
//	score(s)  = change(softcap(Scale · q·k(s))) + bias(t,s) + relative(t−s) + forget(t,s)   for the keys s that t sees
//	weight(s) = dropout(exp(score(s) − lse))        with lse = log (exp(sink) + Σ exp(score))
//	out       = Σ weight(s)·v(s)
//
// where exp(sink) is there only if there are sinks. A query whose keys are all hidden has the output 0, and its
// gradients are 0. A sink of NaN or +∞ makes NaN of the rows with a score above −∞. Dropout multiplies by 0: it hides
// no NaN.
//
// With Sigmoid, which has no sinks, the weights are dropout(sigmoid(score + SigmoidBias)) instead, and lse is the
// logarithm of their sum before dropout.
type Attention struct {
	B, H, K int // batch, query heads, key/value heads; K divides H
	T, S    int // queries, keys
	D, DV   int // width of queries and keys, width of values
	Scale   float64
	Softcap float64 // c > 0: scores become c·tanh(score/c) before the bias; 0: they stay
	// Score changes capped scores, of keys that are not Unbiased, and ScoreSlope is its derivative; nil: they stay.
	Score, ScoreSlope ScoreFunc
	Sigmoid           bool
	SigmoidBias       float64
	Visible           func(b, t int) (lo, hi int) // query t of batch b sees no key but lo ≤ s < hi; nil: all
	Alike             bool                        // Visible is the same in all batches
	Shown             ShownFunc                   // which of the keys that Visible leaves are seen; nil: all
	// Chosen are blocks of keys that queries see, if they see no others: Visible and Shown show no more. nil: all that
	// these show.
	Chosen   *ChosenBlocks
	Unbiased int // the last keys, which get no bias, and nothing relative or forgotten
	Dropout  WeightDropout
	// Precision of the operands of all products: q, k and v, the weights, and in the backward the output's gradient and
	// the gradients of scores. That of float64 is Full.
	Precision Precision
	QueryAt   HeadLayout // of q (B,H,T,D) and its gradient
	KeyAt     HeadLayout // of k (B,K,S,D) and its gradient
	ValueAt   HeadLayout // of v (B,K,S,DV) and its gradient
	OutputAt  HeadLayout // of the output (B,H,T,DV) and its gradient
	BiasAt    BiasLayout // of the bias, broadcast to (B,H,T,S−Unbiased), and its gradient
	// Of the relative bias and its gradient: the element of query t and key s is at h·Head + t − s + Zero.
	RelativeAt RelativeLayout
}

// ShownFunc sets shown[i] to whether query t of head h of batch b sees key s0+i, for all elements of shown, and
// returns true. It may instead leave shown alone and return false: then the query sees all keys that Visible leaves.
// Several goroutines call it.
type ShownFunc func(b, h, t, s0 int, shown []bool) bool

// RelativeLayout is the place of a relative bias, which depends only on the head and the distance between query and
// key. With Head = 0 all heads share one.
type RelativeLayout struct{ Head, Zero int }

// HeadLayout is the place of rows in memory: row t of head h of batch b begins at b·Batch + h·Head + t·Row, and its
// elements lie side by side.
type HeadLayout struct{ Batch, Head, Row int }

// BiasLayout holds the steps of a bias along each axis of (B,H,T,S). With a step of 0 the bias is broadcast along
// the axis; two elements that differ in another axis must not share memory.
type BiasLayout struct{ Batch, Head, Query, Key int }

// WeightDropout drops attention weights: the same elements as Dropout with this key and site drops from the
// weights as a contiguous (B,H,T,S) tensor, with the same factor for those kept.
type WeightDropout struct {
	P    float64 // probability; 0 drops nothing
	Key  int64
	Site int
}

// HeadsFirst returns the layout of a contiguous (B,heads,rows,width) tensor.
func HeadsFirst(heads, rows, width int) HeadLayout {
	return HeadLayout{heads * rows * width, rows * width, width}
}

// HeadsInRow returns the layout of a contiguous (B,rows,heads·width) tensor.
func HeadsInRow(heads, rows, width int) HeadLayout {
	return HeadLayout{heads * rows * width, width, heads * width}
}

// An AttentionCall is an attention with its operands and the results of its forward.
type AttentionCall[F Float] struct {
	Attention
	In  QKV[F]
	Out []F // (B,H,T,DV) at OutputAt
	// LSE has the RowNumbers of each row, (RowNumbers,B,H,T): its log-sum-exp, then the shift and the factor with which
	// weight(s) = factor·exp(score(s) − shift). They are the forward's own, about the largest score and
	// 1/Σ exp(score − shift), so that no weight loses what rounding takes from the log-sum-exp. The factor of a saturated
	// row is negative.
	LSE   []F
	Stats RowStatistics[F] // computed by Forward too, unless it is zero
}

// RowNumbers is how many numbers of each row an AttentionCall keeps in LSE.
const RowNumbers = 3

// QKV holds the operands of an attention, or their gradients. Bias, Relative and Sinks (H) may be nil if there are
// none.
type QKV[F Float] struct {
	Q, K, V, Bias, Relative, Sinks []F
	Forget                         Forgetting
}

// check makes sure that every element that the forward reaches lies inside its slice.
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

// checkGradients makes sure that the gradients are as long as what they are of. Those that are nil are not computed.
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

// checkHeads makes sure that the rows of all heads lie inside a slice.
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

// biased returns the number of keys that get a bias.
func (a *Attention) biased() int { return a.S - a.Unbiased }

// at returns where row t of head h of batch b begins.
func (l *HeadLayout) at(b, h, t int) int { return b*l.Batch + h*l.Head + t*l.Row }

// keys returns the range of keys that query t of batch b sees, inside [0,S), or 0, 0 if it is empty.
func (a *Attention) keys(b, t int) (lo, hi int) {
	if a.Visible == nil {
		return 0, a.S
	}
	lo, hi = a.Visible(b, t)
	lo, hi = max(lo, 0), min(hi, a.S)
	if lo >= hi {
		return 0, 0
	}
	return lo, hi
}

// lowest returns −∞: the maximum of nothing, and the score of a hidden key.
func lowest[F Float]() F { return F(math.Inf(-1)) }
