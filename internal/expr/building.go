package expr

import "sync"

var building sync.Mutex

// Building calls build, which builds or differentiates a graph, while no other call of
// Building runs: all graphs of a process share Gorgonia's constants. It returns build's
// error. Machines may run at once. A build that calls Building waits for ever.
func Building(build func() error) error {
	building.Lock()
	defer building.Unlock()
	return build()
}
