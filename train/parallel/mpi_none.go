//go:build !mpi || !linux || !(amd64 || arm64)

package parallel

import "fmt"

// link is MPI's library, which this program does without.
type link struct{}

func (l *launcher) join() (*MPI, error) {
	if l.size == 1 {
		return nil, nil
	}
	return nil, fmt.Errorf("%s: got a program without MPI, want one built with CGO_ENABLED=0 go build -tags mpi, on Linux",
		l.name)
}

func (*link) exchange(int, []byte, int, []byte) error { return errNotJoined }
func (*link) abort()                                  {}
func (*link) close() error                            { return errNotJoined }
