package kernel

import "sync"

// A vectorTask is one call of a kernel on runs or rows of numbers, kept between calls so that dividing it
// among goroutines allocates nothing. Elements and rows do not touch each other, hence the bits of the results
// do not depend on how they are divided.
type vectorTask[F Float] struct {
	kind       vectorKind
	a, b, c, d []F // the last results first, then what is read
	e, f, sums []F
	cols       int
	x, y       F
	factor     rowFactor
	adam       AdamConstants[F]
	targets    []int64
	ignore     int64
	losses     []float64
	each       func(lo, hi int) // run, made once
}

type vectorKind uint8

const (
	taskExp vectorKind = iota
	taskTanh
	taskTanhBackward
	taskGELUTanh
	taskGELUTanhBackward
	taskGELU
	taskGELUBackward
	taskMul
	taskScale
	taskAdam
	taskSGD
	taskMomentum
	taskAdd
	taskAddRows
	taskSumRows
	taskSoftmax
	taskSoftmaxBackward
	taskCrossEntropy
	taskCrossEntropyBackward
	taskNorm
	taskNormBackward
	taskSigmoid
	taskSigmoidBackward
	taskSiLU
	taskSiLUBackward
	taskSwiGLU
	taskSwiGLUBackward
	taskSoftcap
	taskSoftcapBackward
	taskRootNorm
	taskRootNormBackward
)

// run does the elements, rows or columns [lo,hi).
func (t *vectorTask[F]) run(lo, hi int) {
	p, cols := chosenPath, t.cols
	switch t.kind {
	case taskExp:
		expRun(p, t.a[lo:hi], t.b[lo:hi])
	case taskTanh:
		tanhRun(p, t.a[lo:hi], t.b[lo:hi])
	case taskTanhBackward:
		tanhBackwardRun(p, t.a[lo:hi], t.b[lo:hi], t.c[lo:hi])
	case taskGELUTanh:
		geluTanhRun(p, t.a[lo:hi], t.b[lo:hi])
	case taskGELUTanhBackward:
		geluTanhBackwardRun(p, t.a[lo:hi], t.b[lo:hi], t.c[lo:hi])
	case taskGELU:
		geluRun(p, t.a[lo:hi], t.b[lo:hi])
	case taskGELUBackward:
		geluBackwardRun(p, t.a[lo:hi], t.b[lo:hi], t.c[lo:hi])
	case taskMul:
		mulRun(p, t.a[lo:hi], t.b[lo:hi], t.c[lo:hi])
	case taskScale:
		scaleRun(p, t.a[lo:hi], t.b[lo:hi], t.x)
	case taskAdam:
		adamRun(p, t.a[lo:hi], t.b[lo:hi], t.c[lo:hi], t.d[lo:hi], &t.adam)
	case taskSGD:
		sgdRun(p, t.a[lo:hi], t.b[lo:hi], t.x, t.y)
	case taskMomentum:
		momentumRun(p, t.a[lo:hi], t.b[lo:hi], t.c[lo:hi], t.x, t.adam.Beta1, t.y)
	case taskAdd:
		addRows(p, 1, hi-lo, t.a[lo:hi], t.b[lo:hi], t.c[lo:hi])
	case taskAddRows:
		addRows(p, hi-lo, cols, t.a[lo*cols:hi*cols], t.b[lo*cols:hi*cols], t.c)
	case taskSumRows:
		sumRows(p, len(t.b)/cols, hi-lo, cols, t.a[lo:hi], t.b[lo:])
	case taskSoftmax:
		softmaxRows(p, hi-lo, cols, t.a[lo*cols:hi*cols], t.b[lo*cols:hi*cols], 1, 0)
	case taskSoftmaxBackward:
		softmaxBackwardRows(p, hi-lo, cols, t.a[lo*cols:hi*cols], t.b[lo*cols:hi*cols], t.c[lo*cols:hi*cols])
	case taskCrossEntropy:
		t.crossEntropy(p, lo, hi)
	case taskCrossEntropyBackward:
		t.crossEntropyBackward(p, lo, hi)
	case taskNorm:
		normRows(p, hi-lo, cols, t.a[lo*cols:hi*cols], t.b[lo:hi], t.c[lo:hi], t.d[lo*cols:hi*cols], t.e, t.f, t.x)
	case taskNormBackward:
		t.normBackward(p, lo, hi)
	case taskSigmoid:
		sigmoidRun(p, t.a[lo:hi], t.b[lo:hi])
	case taskSigmoidBackward:
		sigmoidBackwardRun(t.a[lo:hi], t.b[lo:hi], t.c[lo:hi])
	case taskSiLU:
		siluRun(p, t.a[lo:hi], t.b[lo:hi])
	case taskSiLUBackward:
		siluBackwardRun(p, t.a[lo:hi], t.b[lo:hi], t.c[lo:hi])
	case taskSwiGLU:
		swiGLURun(p, t.a[lo:hi], t.b[lo:hi], t.c[lo:hi])
	case taskSwiGLUBackward:
		swiGLUBackwardRun(p, t.a[lo:hi], t.b[lo:hi], t.c[lo:hi], t.d[lo:hi], t.e[lo:hi])
	case taskSoftcap:
		softcapRun(p, t.a[lo:hi], t.b[lo:hi], t.x)
	case taskSoftcapBackward:
		softcapBackwardRun(t.a[lo:hi], t.b[lo:hi], t.c[lo:hi], t.x)
	case taskRootNorm:
		t.rootNorm(p, lo, hi)
	case taskRootNormBackward:
		t.rootNormBackward(p, lo, hi)
	}
}

var vectorTasks32, vectorTasks64 = sync.Pool{New: newVectorTask[float32]}, sync.Pool{New: newVectorTask[float64]}

func newVectorTask[F Float]() any {
	t := new(vectorTask[F])
	t.each = t.run
	return t
}

// start does n elements, rows or columns in blocks of at least grain.
func (t vectorTask[F]) start(n, grain int) {
	if n < 2*grain {
		if n > 0 {
			t.run(0, n)
		}
		return
	}
	pool := &vectorTasks64
	if sizeOf[F]() == 4 {
		pool = &vectorTasks32
	}
	shared := pool.Get().(*vectorTask[F])
	each := shared.each
	*shared = t
	shared.each = each
	Parallel(n, grain, each)
	*shared = vectorTask[F]{each: each}
	pool.Put(shared)
}

// Elements that are worth a goroutine's while: of functions that compute much, and of those that wait for
// memory.
const (
	grainSlow = 1 << 11
	grainFast = 1 << 13
)

// rowGrain is how many rows of cols elements have about so many elements.
func rowGrain(elements, cols int) int { return 1 + elements/max(cols, 1) }

// fit panics unless all lengths are n.
func fit(name string, n int, lengths ...int) {
	for _, length := range lengths {
		if length != n {
			panic("kernel: " + name + ": slices of lengths that do not fit together")
		}
	}
}

// fitRows panics unless a slice has whole rows, and returns their number.
func fitRows(name string, n, cols int) (rows int) {
	if n == 0 {
		return 0
	}
	if cols < 1 || n%cols != 0 {
		panic("kernel: " + name + ": a slice that is not made of rows of the given length")
	}
	return n / cols
}
