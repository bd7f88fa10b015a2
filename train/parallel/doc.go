// Package parallel has groups of processes that train one model together, for
// train.Config.Group: those that mpirun started, in a program built with -tags mpi, and
// goroutines of one process.
package parallel
