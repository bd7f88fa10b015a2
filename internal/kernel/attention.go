package kernel

// Attention holds the sizes and rules of one scaled dot-product attention with H query heads that share K
// key/value heads: query head h uses key/value head h/(H/K). For each batch b, head h and query t
//
//	score(s)  = change(softcap(Scale · q·k(s))) + bias(t,s) + relative(t−s) + forget(t,s)   for the keys s that t sees
//	weight(s) = dropout(exp(score(s) − lse))        with lse = log (exp(sink) + Σ exp(score))
//	out       = Σ weight(s)·v(s)
//
// where exp(sink) exists only if there are sinks. A query whose keys are all hidden has the output 0, and gradients of
// 0. A sink of NaN or +∞ makes rows NaN that have a score above −∞. Dropout multiplies by 0, so it does not hide a NaN.
//
// With Sigmoid, which has no sinks, the weights are dropout(sigmoid(score + SigmoidBias)) instead, and lse is the
// logarithm of their sum before dropout.
type Attention struct {
	B, H, K int // batch, query heads, key/value heads; K divides H
	T, S    int // queries, keys
	D, DV   int // width of queries and keys, width of values
	Scale   float64
	Softcap float64 // c > 0: scores become c·tanh(score/c) before the bias; 0: no cap
	// Score changes the capped scores of keys that are not Unbiased, and ScoreSlope is its derivative; nil: no change.
	Score, ScoreSlope ScoreFunc
	Sigmoid           bool
	SigmoidBias       float64
	Visible           func(b, t int) (lo, hi int) // query t of batch b sees only keys lo ≤ s < hi; nil: all
	Alike             bool                        // whether Visible is the same in all batches
	Shown             ShownFunc                   // which of the keys that Visible allows are seen; nil: all
	// Chosen restricts queries to blocks of keys, beyond what Visible and Shown hide. nil: no restriction.
	Chosen   *ChosenBlocks
	Unbiased int // number of last keys, which get no bias of any kind and no log-gates
	Dropout  WeightDropout
	// Precision of the operands of all products: q, k and v, the weights, and in the backward the output's gradient and
	// the gradients of scores. It is Full for float64.
	Precision Precision
	QueryAt   HeadLayout // of q (B,H,T,D) and its gradient
	KeyAt     HeadLayout // of k (B,K,S,D) and its gradient
	ValueAt   HeadLayout // of v (B,K,S,DV) and its gradient
	OutputAt  HeadLayout // of the output (B,H,T,DV) and its gradient
	BiasAt    BiasLayout // of the bias, broadcast to (B,H,T,S−Unbiased), and its gradient
	// Of the relative bias and its gradient: the element of query t and key s is at h·Head + t − s + Zero.
	RelativeAt RelativeLayout
}

// RelativeLayout is the place of a relative bias, which depends only on the head and the distance between query and
// key. With Head = 0 all heads share one.
type RelativeLayout struct{ Head, Zero int }

// HeadLayout is the place of rows in memory: row t of head h of batch b begins at b·Batch + h·Head + t·Row, and its
// elements are contiguous.
type HeadLayout struct{ Batch, Head, Row int }

// BiasLayout holds the strides of a bias along each axis of (B,H,T,S). With a stride of 0 the bias is broadcast along
// the axis; two elements that differ in another axis must not share memory.
type BiasLayout struct{ Batch, Head, Query, Key int }

// HeadsFirst returns the layout of a contiguous (B,heads,rows,width) tensor.
func HeadsFirst(heads, rows, width int) HeadLayout {
	return HeadLayout{heads * rows * width, rows * width, width}
}

// HeadsInRow returns the layout of a contiguous (B,rows,heads·width) tensor.
func HeadsInRow(heads, rows, width int) HeadLayout {
	return HeadLayout{heads * rows * width, width, heads * width}
}

// biased returns the number of keys that get a bias.
func (a *Attention) biased() int { return a.S - a.Unbiased }

// at returns the index of row t of head h of batch b.
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
