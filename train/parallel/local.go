package parallel

import (
	"errors"
	"fmt"
	"sync"
)

// Local is a process of a group whose processes are goroutines. It shows and tests what a
// group does; one process alone uses all cores as well.
type Local struct {
	rank  int
	links [][]chan []byte // from one rank to another
	end   *ending
}

// ending is how a group ends before its work is done.
type ending struct {
	once   sync.Once
	done   chan struct{}
	reason error
}

// NewLocal returns the n processes of a group, by rank, each for a goroutine of its own.
func NewLocal(n int) ([]*Local, error) {
	const most = 1 << 8 // of which each pair has a channel
	if n < 1 || n > most {
		return nil, fmt.Errorf("parallel: processes: got %d, want 1 to %d", n, most)
	}
	links := make([][]chan []byte, n)
	for i := range links {
		links[i] = make([]chan []byte, n)
		for j := range links[i] {
			links[i][j] = make(chan []byte, 1)
		}
	}
	group, end := make([]*Local, n), &ending{done: make(chan struct{})}
	for rank := range group {
		group[rank] = &Local{rank, links, end}
	}
	return group, nil
}

// Rank returns the number of this process.
func (l *Local) Rank() int {
	if l == nil {
		return 0
	}
	return l.rank
}

// Size returns the number of processes; 0 for a process that NewLocal did not make.
func (l *Local) Size() int {
	if l == nil {
		return 0
	}
	return len(l.links)
}

// Exchange sends bytes to one process and receives from another, as train.Group describes.
func (l *Local) Exchange(to int, send []byte, from int, receive []byte) error {
	if n := l.Size(); n == 0 || to < 0 || to >= n || from < 0 || from >= n {
		return fmt.Errorf("parallel: exchange: got ranks %d and %d of %d processes", to, from, n)
	}
	if to == l.rank || from == l.rank {
		return fmt.Errorf("parallel: exchange: got rank %d itself, want others", l.rank)
	}
	if len(send) > 0 {
		select {
		case l.links[l.rank][to] <- append([]byte(nil), send...):
		case <-l.end.done:
			return l.end.reason
		}
	}
	if len(receive) == 0 {
		return nil
	}
	select {
	case message := <-l.links[from][l.rank]:
		if len(message) != len(receive) {
			return fmt.Errorf("parallel: exchange: got %d bytes of rank %d, want %d", len(message), from, len(receive))
		}
		copy(receive, message)
		return nil
	case <-l.end.done:
		return l.end.reason
	}
}

// Abort makes the calls of Exchange of all processes fail for a reason.
func (l *Local) Abort(reason error) {
	if l == nil || l.end == nil {
		return
	}
	l.end.once.Do(func() {
		l.end.reason = fmt.Errorf("parallel: rank %d ended the group: %w", l.rank, cause(reason))
		close(l.end.done)
	})
}

func cause(reason error) error {
	if reason == nil {
		return errors.New("no reason given")
	}
	return reason
}
