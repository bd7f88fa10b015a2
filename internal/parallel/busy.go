package parallel

import (
	"sync/atomic"
	"time"
)

// The results of Busy in nanoseconds, while counting is on.
var (
	counting           atomic.Bool
	inParallel, atWork atomic.Int64
)

// CountBusy switches the counting of Busy on or off.
func CountBusy(on bool) { counting.Store(on) }

// Busy returns how long callers have been in calls of For with several goroutines, and how long all these goroutines
// have computed in them. A call inside another call counts for both.
func Busy() (callers, all time.Duration) {
	return time.Duration(inParallel.Load()), time.Duration(atWork.Load())
}

// countTo adds the time since begin.
func countTo(sum *atomic.Int64, begin time.Time) { sum.Add(int64(time.Since(begin))) }
