//go:build !mpi || !linux || !(amd64 || arm64)

package parallel

import "errors"

// join returns nil if there is no other process: this build has no MPI.
func (l *launcher) join() (Transport, Machine, error) {
	if l.size == 1 {
		return nil, Machine{}, nil
	}
	return nil, Machine{}, l.named(errors.New("got a program without MPI, " +
		"want one built with CGO_ENABLED=0 go build -tags mpi, on Linux"))
}
