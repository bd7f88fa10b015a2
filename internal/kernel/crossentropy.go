package kernel

import (
	"math"
	"sync"
)

var lossPool = sync.Pool{New: func() any { return new([]float64) }}

// CrossEntropy returns Σ log Σexp(x) − x[target] over the rows of cols elements whose target is not ignore, summed
// in float64. Targets must lie in [0,cols).
func CrossEntropy[F Float](x []F, targets []int64, cols int, ignore int64) float64 {
	rows := fitRows("cross entropy", len(x), cols)
	fit("cross entropy", rows, len(targets))
	pooled := lossPool.Get().(*[]float64)
	*pooled = resize(*pooled, rows)
	losses := (*pooled)[:rows]
	split(crossEntropyCall[F]{losses, x, targets, cols, ignore}, rows, rowGrain(grainSlow, cols))
	total := 0.0
	for _, loss := range losses {
		total += loss
	}
	lossPool.Put(pooled)
	return total
}

type crossEntropyCall[F Float] struct {
	losses  []float64 // of each row
	x       []F
	targets []int64
	cols    int
	ignore  int64
}

func (c crossEntropyCall[F]) do(lo, hi int) {
	const most = 32
	var top, sum [most]F
	for r0 := lo; r0 < hi; r0 += most {
		n := min(most, hi-r0)
		x := c.x[r0*c.cols : (r0+n)*c.cols]
		sumExpRows(chosenPath, n, c.cols, x, top[:], sum[:])
		for i, target := range c.targets[r0 : r0+n] {
			c.losses[r0+i] = 0
			if target != c.ignore {
				row := x[i*c.cols:][:c.cols]
				c.losses[r0+i] = logSumExp(row, top[i], sum[i]) - float64(row[target])
			}
		}
	}
}

// logSumExp returns log Σexp(x) of a row with maximum top and Σ exp(x−top) = sum.
func logSumExp[F Float](x []F, top, sum F) float64 {
	if !math.IsInf(float64(top), 1) {
		return float64(top) + math.Log(float64(sum))
	}
	for _, v := range x {
		if v != v {
			return math.NaN()
		}
	}
	return math.Inf(1) // where ∞ − ∞ has made sum NaN
}

// CrossEntropyBackward writes scale·(softmax(x) − onehot(target)) for every row of cols elements, and zeros
// where the target is ignore. dx may be x.
func CrossEntropyBackward[F Float](dx, x []F, targets []int64, cols int, ignore int64, scale F) {
	rows := fitRows("cross entropy backward", len(x), cols)
	fit("cross entropy backward", len(x), len(dx))
	fit("cross entropy backward", rows, len(targets))
	split(crossEntropyBackwardCall[F]{dx, x, targets, cols, ignore, scale}, rows, rowGrain(grainSlow, cols))
}

type crossEntropyBackwardCall[F Float] struct {
	dx, x   []F
	targets []int64
	cols    int
	ignore  int64
	scale   F
}

// A row of −∞ alone has no softmax: NaN.
func (c crossEntropyBackwardCall[F]) do(lo, hi int) {
	dx, x := c.dx[lo*c.cols:hi*c.cols], c.x[lo*c.cols:hi*c.cols]
	softmaxRows(chosenPath, hi-lo, c.cols, dx, x, c.scale, F(math.NaN()))
	for i, target := range c.targets[lo:hi] {
		row := dx[i*c.cols:][:c.cols]
		if target != c.ignore {
			row[target] -= c.scale
		} else {
			clear(row)
		}
	}
}
