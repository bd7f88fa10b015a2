package kernel

import (
	"math"
	"sync"
)

var lossPool = sync.Pool{New: func() any { return new([]float64) }}

// CrossEntropy is Σ log Σexp(x) − x[target] over the rows of cols elements whose target is not ignore, summed
// in float64. Targets must lie in [0,cols).
func CrossEntropy[F Float](x []F, targets []int64, cols int, ignore int64) float64 {
	rows := fitRows("cross entropy", len(x), cols)
	fit("cross entropy", rows, len(targets))
	pooled := lossPool.Get().(*[]float64)
	*pooled = resize(*pooled, rows)
	losses := (*pooled)[:rows]
	vectorTask[F]{kind: taskCrossEntropy, a: x, cols: cols, targets: targets, ignore: ignore, losses: losses}.start(rows, rowGrain(grainSlow, cols))
	total := 0.0
	for _, loss := range losses {
		total += loss
	}
	lossPool.Put(pooled)
	return total
}

// crossEntropy writes the losses of the rows [lo,hi).
func (t *vectorTask[F]) crossEntropy(p path, lo, hi int) {
	const chunk = 32
	var top, sum [chunk]F
	for r0 := lo; r0 < hi; r0 += chunk {
		n := min(chunk, hi-r0)
		x := t.a[r0*t.cols : (r0+n)*t.cols]
		sumExpRows(p, n, t.cols, x, top[:], sum[:])
		for i, target := range t.targets[r0 : r0+n] {
			t.losses[r0+i] = 0
			if target != t.ignore {
				row := x[i*t.cols:][:t.cols]
				t.losses[r0+i] = logSumExp(row, top[i], sum[i]) - float64(row[target])
			}
		}
	}
}

// CrossEntropyBackward writes scale·(softmax(x) − onehot(target)) for every row of cols elements, and zeros
// where the target is ignore. dx may be x.
func CrossEntropyBackward[F Float](dx, x []F, targets []int64, cols int, ignore int64, scale F) {
	rows := fitRows("cross entropy backward", len(x), cols)
	fit("cross entropy backward", len(x), len(dx))
	fit("cross entropy backward", rows, len(targets))
	vectorTask[F]{kind: taskCrossEntropyBackward, a: dx, b: x, cols: cols, targets: targets, ignore: ignore, x: scale}.start(rows, rowGrain(grainSlow, cols))
}

// crossEntropyBackward does the rows [lo,hi). A row of −∞ alone has no softmax: NaN.
func (t *vectorTask[F]) crossEntropyBackward(p path, lo, hi int) {
	cols := t.cols
	softmaxRows(p, hi-lo, cols, t.a[lo*cols:hi*cols], t.b[lo*cols:hi*cols], t.x, F(math.NaN()))
	for r := lo; r < hi; r++ {
		row := t.a[r*cols:][:cols]
		if target := t.targets[r]; target != t.ignore {
			row[target] -= t.x
		} else {
			clear(row)
		}
	}
}
