package parallel

import (
	"errors"
	"fmt"
	"sync"
)

// local is a process of a group whose processes are goroutines.
type local struct {
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

// NewLocal returns the n processes of a group, by rank, each for a goroutine of its own. They show
// and test what a group does; one process alone uses all cores as well.
func NewLocal(n int) ([]*Group, error) {
	const most = 1 << 8 // each pair of them has a channel
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
	group, end := make([]*Group, n), &ending{done: make(chan struct{})}
	for rank := range group {
		group[rank] = &Group{Transport: &local{rank, links, end}}
	}
	return group, nil
}

// Rank returns the number of this process.
func (l *local) Rank() int { return l.rank }

// Size returns the number of processes.
func (l *local) Size() int { return len(l.links) }

// Exchange sends bytes to one process and receives from another, as Transport describes.
func (l *local) Exchange(to int, send []byte, from int, receive []byte) error {
	if n := l.Size(); to < 0 || to >= n || from < 0 || from >= n {
		return fmt.Errorf("parallel: exchange: got ranks %d and %d of %d processes", to, from, n)
	}
	if to == l.rank || from == l.rank {
		return fmt.Errorf("parallel: exchange: got rank %d itself, want another", l.rank)
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
func (l *local) Abort(reason error) {
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
