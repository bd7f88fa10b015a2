package kernel

// compiled lists functions for one type of numbers that are compiled only in this package. A package that calls them
// through compiledFor compiles neither them nor the functions that they call again.
type compiled[F Float] interface {
	attentionForward(c AttentionCall[F])
	attentionBackward(c AttentionCall[F], grad QKV[F], dout []F)
	attentionLargest(c AttentionCall[F], largest []F, cells Cells)
	blockMeans(a Attention, means []F, size int, from []int, k []F)
	chooseBlocks(a Attention, numbers []int64, size int, starts []int, q, means []F)
	gruForward(g GRU, out, gates, x, h0, weight, bias []F)
	gruBackward(g GRU, d GRUGradients[F], dout, out, gates, h0, weight []F)
	linearForward(l LinearAttention, out, states []F, in LinearOperands[F])
	linearBackward(l LinearAttention, grad LinearOperands[F], dout, states []F, in LinearOperands[F])
}

// compiledHere implements them.
type compiledHere[F Float] struct{}

var (
	compiled32 compiled[float32] = compiledHere[float32]{}
	compiled64 compiled[float64] = compiledHere[float64]{}
)

func compiledFor[F Float]() compiled[F] {
	if c, ok := any(&compiled32).(*compiled[F]); ok {
		return *c
	}
	return *any(&compiled64).(*compiled[F])
}
