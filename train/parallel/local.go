package parallel

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
)

// local is a process of a group whose processes are goroutines.
type local struct {
	rank  int
	links [][]chan []byte // from one rank to another
	left  []*ending       // for each rank, closed when it leaves the group
	end   *ending
}

// ending is the premature end of a group.
type ending struct {
	once   sync.Once
	done   chan struct{}
	reason error
}

func newEnding() *ending { return &ending{done: make(chan struct{})} }

// because sets the reason and closes done. Later calls do nothing.
func (e *ending) because(reason error) {
	e.once.Do(func() {
		e.reason = reason
		close(e.done)
	})
}

// NewLocal returns the n processes of a group, by rank, each for a goroutine of its own. They serve for tests and
// examples; one process alone uses all cores equally well. A goroutine that ends before the others must close its
// process, so that they do not wait for it.
func NewLocal(n int) ([]*Group, error) {
	const most = 1 << 8 // each pair of processes has a channel
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
	group, left, end := make([]*Group, n), make([]*ending, n), newEnding()
	for rank := range group {
		left[rank] = newEnding()
		group[rank] = &Group{Transport: &local{rank, links, left, end}}
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
	if err := l.send(to, send); err != nil || len(receive) == 0 {
		return err
	}
	message, err := l.receive(from)
	if err != nil {
		return err
	}
	if len(message) != len(receive) {
		return fmt.Errorf("parallel: exchange: %w", unlike(len(message), len(receive), from))
	}
	copy(receive, message)
	return nil
}

// send sends a message to a process that has not left.
func (l *local) send(to int, message []byte) error {
	if len(message) == 0 {
		return nil
	}
	select {
	case <-l.left[to].done: // a buffered link would hide this
		return l.reasonOf(to)
	default:
	}
	select {
	case l.links[l.rank][to] <- append([]byte(nil), message...):
		return nil
	case <-l.left[to].done:
		return l.reasonOf(to)
	case <-l.end.done:
		return l.end.reason
	}
}

// receive returns the next message of a process.
func (l *local) receive(from int) ([]byte, error) {
	link := l.links[from][l.rank]
	select {
	case message := <-link:
		return message, nil
	case <-l.end.done:
		return nil, l.end.reason
	case <-l.left[from].done:
	}
	select {
	case message := <-link: // its last one
		return message, nil
	default:
		return nil, l.reasonOf(from)
	}
}

// reasonOf returns why a process has left. It may have ended the group before.
func (l *local) reasonOf(rank int) error {
	select {
	case <-l.end.done:
		return l.end.reason
	default:
		return l.left[rank].reason
	}
}

// unlike is the error about a message whose length this process does not expect.
func unlike(got, want, from int) error {
	return fmt.Errorf("got %d bytes of rank %d, want %d: the two do not do the same", got, from, want)
}

// Close leaves the group. Processes that wait for this one get an error.
func (l *local) Close() error {
	l.left[l.rank].because(fmt.Errorf("parallel: rank %d has left the group, want it to go on", l.rank))
	return nil
}

// Abort makes calls of Exchange fail with a reason in all processes.
func (l *local) Abort(reason error) {
	l.end.because(fmt.Errorf("parallel: rank %d ended the group: %w", l.rank, cause(reason)))
}

// cause returns the reason or, if it is nil, an error that says that none was given.
func cause(reason error) error { return cmp.Or(reason, errors.New("no reason given")) }
