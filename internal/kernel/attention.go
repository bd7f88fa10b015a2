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

// RowNumbers is how many numbers of each row AttentionForward writes to lse (RowNumbers,B,H,T): the log-sum-exp, then
// the shift and the factor with which weight(s) = factor·exp(score(s) − shift). They are the forward's own, about the
// largest score and 1/Σ exp(score − shift), so that no weight loses what rounding takes from lse. The factor of a
// saturated row is negative.
const RowNumbers = 3

// QKV holds the arguments of an attention, or their gradients. Bias, Relative and Sinks (H) may be nil if there are
// none.
type QKV[F Float] struct {
	Q, K, V, Bias, Relative, Sinks []F
	Forget                         Forgetting
}

// checkAttention makes sure that every element an attention reaches lies inside its slice.
func checkAttention[F Float](a *Attention, out, lse []F, in *QKV[F]) {
	checkScores(a, lse, in)
	a.checkHeads("attention: v", len(in.V), a.K, a.S, a.DV, a.ValueAt)
	a.checkHeads("attention: out", len(out), a.H, a.T, a.DV, a.OutputAt)
}

// checkScores is checkAttention for what weights are made of: all but values and output.
func checkScores[F Float](a *Attention, lse []F, in *QKV[F]) {
	if min(a.B, a.H, a.T, a.S, a.D, a.DV, a.Unbiased, a.S-a.Unbiased) < 0 {
		panic("kernel: attention: negative dimension")
	}
	if a.K < 1 || a.H%a.K != 0 {
		panic("kernel: attention: the key/value heads do not divide the query heads")
	}
	if !(a.Softcap >= 0) || !(a.Dropout.P >= 0 && a.Dropout.P < 1) {
		panic("kernel: attention: softcap or dropout outside its range")
	}
	if a.Sigmoid && in.Sinks != nil {
		panic("kernel: attention: sinks beside a sigmoid")
	}
	a.checkHeads("attention: q", len(in.Q), a.H, a.T, a.D, a.QueryAt)
	a.checkHeads("attention: k", len(in.K), a.K, a.S, a.D, a.KeyAt)
	if len(lse) < RowNumbers*a.B*a.H*a.T {
		panic("kernel: attention: lse: slice is too short")
	}
	checkAdded(a, in, "")
}

// checkHeads makes sure that the rows of all heads lie inside a slice.
func (a *Attention) checkHeads(name string, length, heads, rows, width int, at HeadLayout) {
	checkSteps(name, length, width, []int{a.B, heads, rows}, []int{at.Batch, at.Head, at.Row})
}

// checkAdded makes sure that biases and sinks, or their gradients, are long enough.
func checkAdded[F Float](a *Attention, in *QKV[F], of string) {
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
