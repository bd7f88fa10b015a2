package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// LinearLoss is the cross entropy of the logits Scale·x·Wᵀ, for x (rows, Width) and W (Targets.Cols, Width). If Cap is
// not 0, they are kept within ±Cap as by Softcap. Only LogitsAtOnce logits exist at a time.
type LinearLoss[F Float] struct {
	X       []F
	W       Matrix[F] // row-major; a stored one has no DW
	Width   int
	Scale   F
	Cap     F
	Targets Targets[F]
	Divisor float64 // of the gradients
	Logits  []F     // room for LogitsAtOnce
	Precision
	DX, DW []F // memory for the gradients of the sum of the losses, divided; nil for none
}

// manyLogits is the number of logits from which computing them in blocks of rows pays.
const manyLogits = 1 << 24

// LogitsAtOnce returns the number of logits that a LinearLoss of a number of rows holds at a time: all of them if there
// are few, otherwise those of the rows that a product sums in one step. DW then has the bits of the product over all
// rows.
func LogitsAtOnce(rows, cols int) int {
	blocks := lossBlocks(rows, cols)
	return (rows + blocks - 1) / blocks * cols
}

func lossBlocks(rows, cols int) int {
	if rows <= manyLogits/max(cols, 1) {
		return 1
	}
	return (rows + blockK - 1) / blockK
}

// Sum returns the sum of the losses, as SumCrossEntropy does, and computes the requested gradients.
func (l *LinearLoss[F]) Sum() float64 {
	rows, cols := len(l.Targets.IDs), l.Targets.Cols
	fit("linear cross entropy", rows*l.Width, len(l.X))
	fit("linear cross entropy", LogitsAtOnce(rows, cols), len(l.Logits))
	fitOrNil("linear cross entropy", len(l.X), l.DX)
	fitOrNil("linear cross entropy", cols*l.Width, l.DW)
	sum, blocks := 0.0, lossBlocks(rows, cols)
	for i := range blocks {
		sum += l.block(parallel.Share(i, blocks, rows), parallel.Share(i+1, blocks, rows))
	}
	return sum
}

// block returns the sum of the losses of some rows. With p the loss's gradient by x·Wᵀ, divided by Scale:
//
//	dX = Scale·p·W, dW += Scale·pᵀ·x
func (l *LinearLoss[F]) block(lo, hi int) float64 {
	width, cols, rows := l.Width, l.Targets.Cols, hi-lo
	x, logits, t := l.X[lo*width:hi*width], l.Logits[:rows*cols], l.Targets
	t.IDs = t.IDs[lo:hi]
	l.timesW(true, rows, cols, width, x, logits)
	if l.Cap != 0 {
		Apply(Softcap, Settings{float64(l.Cap)}, logits, logits)
	}
	sum := SumCrossEntropy(logits, t)
	if l.DX == nil && l.DW == nil {
		return sum
	}
	l.backward(logits, t)
	if l.DX != nil {
		l.timesW(false, rows, width, cols, logits, l.DX[lo*width:hi*width])
	}
	if l.DW != nil {
		Product[F]{M: cols, N: width, K: rows, Alpha: l.Scale, A: Transposed(logits, cols), B: Rows(x, width),
			Beta: F(min(lo, 1)), C: Rows(l.DW, width), Precision: l.Precision}.Compute()
	}
	return sum
}

// timesW computes Y ← Scale·X·W or, transposed, Scale·X·Wᵀ, for X (m,k) and Y (m,n).
func (l *LinearLoss[F]) timesW(trans bool, m, n, k int, x, y []F) {
	Product[F]{M: m, N: n, K: k, Alpha: l.Scale, A: Rows(x, k), B: l.W.Op(trans), C: Rows(y, n),
		Precision: l.Precision}.Compute()
}

// backward replaces logits by the gradient of their loss, with respect to the input of Softcap if there is a cap.
func (l *LinearLoss[F]) backward(logits []F, t Targets[F]) {
	if l.Cap == 0 {
		CrossEntropyBackward(logits, logits, t, one[F](), l.Divisor)
		return
	}
	c := crossEntropyBackwardCall[F]{logits, logits, t, one[F](), l.Divisor, t.totalWeight()}
	parallel.Do(cappedBackwardCall[F]{c, l.Cap}, len(t.IDs), rowGrain(grainSlow, t.Cols))
}

type cappedBackwardCall[F Float] struct {
	crossEntropyBackwardCall[F]
	limit F
}

// do stores the capped logits of one row at a time, since their gradient overwrites them.
func (c cappedBackwardCall[F]) Do(lo, hi int) {
	cols := c.t.Cols
	capped := borrow[F](cols)
	defer giveBack(capped)
	for i := lo; i < hi; i++ {
		row := c.dx[i*cols:][:cols]
		copy(*capped, row)
		c.crossEntropyBackwardCall.Do(i, i+1)
		simd.SoftcapSlope(row, *capped, row, c.limit)
	}
}

var one32, one64 = []float32{1}, []float64{1}

// one returns a 1, without allocating it.
func one[F Float]() []F {
	if ones, ok := any(one32).([]F); ok {
		return ones
	}
	return any(one64).([]F)
}
