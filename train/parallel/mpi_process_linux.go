//go:build mpi && (amd64 || arm64)

package parallel

import (
	"fmt"
	"os"
)

// mpi is a process of the group that mpirun started.
type mpi struct {
	rank, size int
	machine    Machine
	link       *link // to the library of MPI
}

// Rank returns the number of this process.
func (m *mpi) Rank() int { return m.rank }

// Size returns the number of processes.
func (m *mpi) Size() int { return m.size }

// Exchange sends bytes to one process and receives from another, as Transport describes.
func (m *mpi) Exchange(to int, send []byte, from int, receive []byte) error {
	if to < 0 || to >= m.size || from < 0 || from >= m.size || to == m.rank || from == m.rank {
		return fmt.Errorf("parallel: exchange: got ranks %d and %d, want two of %d that are not %d", to, from,
			m.size, m.rank)
	}
	if err := m.link.exchange(to, send, from, receive); err != nil {
		return fmt.Errorf("parallel: exchange: %w", err)
	}
	return nil
}

// Abort ends all processes, this one too, with exit code 1. The other processes do not learn the reason, so this
// process prints it to standard error.
func (m *mpi) Abort(reason error) {
	fmt.Fprintf(os.Stderr, "parallel: rank %d ends the group: %v\n", m.rank, cause(reason))
	m.link.abort()
}

// Close leaves the group when all processes do, after their last Exchange. If another process waits for an Exchange
// with this one, Close returns an error instead: mpirun ends the other processes soon after this process has ended.
func (m *mpi) Close() error {
	if err := m.link.close(); err != nil {
		return fmt.Errorf("parallel: close: %w", err)
	}
	return nil
}
