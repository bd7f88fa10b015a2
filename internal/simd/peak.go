package simd

import (
	"runtime"
	"time"
)

// PeakFMA measures the peak of one core with the kernels' instruction set, in floating-point operations per second: a
// loop of independent multiply-adds that touches no memory. The loop runs for about the given time, in slices, and the
// fastest slice counts. A multiply-add is two operations. Without assembly the loop is in plain Go.
func PeakFMA[F Float](about time.Duration) float64 {
	rows, lanes := TileShape[F]()
	each := 2 * rows * lanes * 2 // operations of one turn: two vectors of multiply-adds for each row of a tile
	return peak(about, each, func(n int) { FmaLoop[F](n) })
}

// peak returns the operations per second of loop; its argument n is the number of turns, and each turn has each
// operations.
func peak(about time.Duration, each int, loop func(n int)) float64 {
	const slice, atLeast = 100 * time.Microsecond, 3 // shorter slices would mostly measure the clock
	best := 0.0
	n, slices := 1<<10, 0
	for begin := time.Now(); slices < atLeast || time.Since(begin) < about; {
		start := time.Now()
		loop(n)
		took := time.Since(start)
		if took < slice {
			n *= 2
			continue
		}
		best = max(best, float64(n)*float64(each)/took.Seconds())
		slices++
	}
	return best
}

// fmaLoopGo computes eight chains. Each has its own product: the compiler would compute a shared one only once.
func fmaLoopGo[F Float](n int) {
	var s0, s1, s2, s3, s4, s5, s6, s7 F
	x, y := F(n&1), F(n&3)
	for range n {
		s0 = s0*x + y
		s1 = s1*x + y
		s2 = s2*x + y
		s3 = s3*x + y
		s4 = s4*x + y
		s5 = s5*x + y
		s6 = s6*x + y
		s7 = s7*x + y
	}
	runtime.KeepAlive(s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7)
}
