package expr

import (
	"errors"
	"runtime"
	"sync"
)

var building sync.Mutex

// Building calls build, which builds or differentiates a graph. No other call of Building runs at that time, because
// all graphs of a process share Gorgonia's constants. It returns build's error. Machines may run concurrently. A build
// that calls Building gets an error.
func Building(build func() error) error {
	if nested() {
		return errors.New("got a call within a formula, want formulas to build nodes alone: call functions and steps outside")
	}
	building.Lock()
	defer building.Unlock()
	return build()
}

// nested reports whether the call of Building is inside another one.
func nested() bool {
	calls := make([]uintptr, 1024)
	frames := runtime.CallersFrames(calls[:runtime.Callers(3, calls)])
	for {
		frame, more := frames.Next()
		if frame.Function == "attention/internal/expr.Building" {
			return true
		}
		if !more {
			return false
		}
	}
}
