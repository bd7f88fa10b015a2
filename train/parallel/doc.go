// Package parallel makes groups of processes that train one model together, for train.StepConfig.Group: processes that
// mpirun started (Join), in a program built with -tags mpi, or goroutines of one process (NewLocal). A Group works over
// any Transport: this package defines how the processes add gradients in a fixed tree, divide the solver's state and
// agree on errors.
package parallel
