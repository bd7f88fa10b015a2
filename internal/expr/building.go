package expr

import (
	"errors"
	"runtime"
	"sync"
)

var building sync.Mutex

// Building calls build, which builds or differentiates a graph, while no other call of
// Building runs: all graphs of a process share Gorgonia's constants. It returns build's
// error. Machines may run at once. A build that calls Building gets an error.
func Building(build func() error) error {
	if nested() {
		return errors.New("got a call within a formula, want formulas to build nodes alone: call functions and steps outside")
	}
	building.Lock()
	defer building.Unlock()
	return build()
}

// nested reports whether the caller of Building is called by Building itself.
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
