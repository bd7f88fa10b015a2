package kernel

import "attention/internal/parallel"

// LinearAttention is attention by a state S (D, DV) of each of K heads in place of a softmax over keys. With the decay
// a = exp(Decay) of a token, for the H/K heads of queries that share a state:
//
//	S ← a⊙S + k⊗v                       without Beta
//	S ← a⊙S + β·k⊗(v − (a⊙S)ᵀ·k)        with: the delta rule (Yang et al., arXiv:2406.06484, 2412.06464)
//	o = Scale·Sᵀ·q
//
// It is computed chunk by chunk: within a chunk by products of its tokens, as in attention, and for earlier tokens by
// the state at the chunk's beginning.
type LinearAttention struct {
	B, T, H, K, D, DV int
	Scale             float64
	Channels          bool    // whether Decay has a number for each of the D channels of a head, or one for all
	Lengths           []int64 // of the sequences; nil means T. Tokens behind the end change nothing, and their o is 0.
	Precision                 // of products, except within the triangle of the delta rule; float64's is Full
}

// LinearOperands are the arguments of a LinearAttention, or their gradients: Q (B, T, H·D), K (B, T, K·D), V
// (B, T, K·DV), the logarithms Decay (B, T, K) or (B, T, K·D), Beta (B, T, K), and State (B, K, D, DV) before the first
// token. A nil Decay, Beta or State means none.
type LinearOperands[F Float] struct{ Q, K, V, Decay, Beta, State []F }

// Chunk returns the number of tokens in a chunk.
func (l LinearAttention) Chunk() int {
	if l.Channels { // number of pairs of tokens, each with a row of numbers
		return 16
	}
	return 64
}

// States returns the number of states that LinearForward stores: the state before each chunk and the last one.
func (l LinearAttention) States() int { return (l.T+l.Chunk()-1)/l.Chunk() + 1 }

// decayWidth returns how many decays a head of a token has.
func (l LinearAttention) decayWidth() int {
	if l.Channels {
		return l.D
	}
	return 1
}

// stateSize returns the number of elements of the states of all heads at one time.
func (l LinearAttention) stateSize() int { return l.B * l.K * l.D * l.DV }

// LinearForward writes the o of all tokens to out (B, T, H·DV) and the states to states (States, B, K, D, DV).
func LinearForward[F Float](l LinearAttention, out, states []F, in LinearOperands[F]) {
	compiledFor[F]().linearForward(l, out, states, in)
}

// LinearBackward writes the gradients of all given operands, from dout and the operands and results of LinearForward.
// The gradient of State may be nil.
func LinearBackward[F Float](l LinearAttention, grad LinearOperands[F], dout, states []F, in LinearOperands[F]) {
	compiledFor[F]().linearBackward(l, grad, dout, states, in)
}

func (compiledHere[F]) linearForward(l LinearAttention, out, states []F, in LinearOperands[F]) {
	checkLinear(l, out, states, in)
	first := states[:l.stateSize()]
	if in.State == nil {
		clear(first)
	} else {
		copy(first, in.State)
	}
	eachHead(l, in, func(c *linearChunk[F], lo, hi int) { c.forward(lo, hi, out, states) })
}

func (compiledHere[F]) linearBackward(l LinearAttention, grad LinearOperands[F], dout, states []F,
	in LinearOperands[F],
) {
	checkLinear(l, dout, states, in)
	checkOperands(l, grad)
	eachHead(l, in, func(c *linearChunk[F], lo, hi int) { c.backward(lo, hi, grad, dout, states) })
}

// headsEach is the approximate number of runs of heads for each goroutine.
const headsEach = 2

// eachHead calls f for runs [lo,hi) of the heads of all sequences. Heads of one run process a chunk together,
// since their elements of a token are contiguous.
func eachHead[F Float](l LinearAttention, in LinearOperands[F], f func(c *linearChunk[F], lo, hi int)) {
	heads := l.B * l.K
	parallel.For(heads, heads/(headsEach*parallel.Cores()), func(lo, hi int) {
		pool := poolOf[F](&linearChunks)
		c := pool.Get().(*linearChunk[F])
		c.begin(l, in, hi-lo)
		f(c, lo, hi)
		c.in = LinearOperands[F]{}
		pool.Put(c)
	})
}

// checkLinear panics unless the sizes of a call fit together.
func checkLinear[F Float](l LinearAttention, out, states []F, in LinearOperands[F]) {
	if min(l.B, l.T, l.H, l.K, l.D, l.DV) < 1 || l.H%l.K != 0 {
		panic("kernel: linear attention: sizes that do not fit together")
	}
	if l.Lengths != nil {
		fit("linear attention", l.B, len(l.Lengths))
	}
	fit("linear attention", l.B*l.T*l.H*l.DV, len(out))
	fit("linear attention", l.States()*l.stateSize(), len(states))
	fit("linear attention", l.B*l.T*l.H*l.D, len(in.Q))
	fit("linear attention", l.B*l.T*l.K*l.D, len(in.K))
	fit("linear attention", l.B*l.T*l.K*l.DV, len(in.V))
	checkOperands(l, in)
}

// checkOperands panics unless the operands that are given fit the sizes.
func checkOperands[F Float](l LinearAttention, in LinearOperands[F]) {
	n := l.B * l.T
	fitOrNil("linear attention", n*l.H*l.D, in.Q)
	fitOrNil("linear attention", n*l.K*l.D, in.K)
	fitOrNil("linear attention", n*l.K*l.DV, in.V)
	fitOrNil("linear attention", n*l.K*l.decayWidth(), in.Decay)
	fitOrNil("linear attention", n*l.K, in.Beta)
	fitOrNil("linear attention", l.stateSize(), in.State)
}
