package stock

import "sync"

// Building is held while a graph is built or differentiated: all graphs of a process share Gorgonia's constants, and
// the page of a run looks at its model while the run builds graphs. Machines may run at once.
var Building sync.Mutex
