// Package parallel has groups of processes that train one model together, for
// train.StepConfig.Group: those that mpirun started (Join), in a program built with -tags mpi, and
// goroutines of one process (NewLocal). A Group works over any Transport: how the processes add
// gradients in a fixed tree, share out the solver's state and agree on errors is here too.
package parallel
