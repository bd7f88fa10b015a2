package serve

import (
	"context"
	"sync"
)

// turns lets what a reader waits for go before what is computed in advance.
type turns struct {
	mu       sync.Mutex
	waited   int           // computations that a reader waits for
	noneLeft chan struct{} // closed when there are none left; nil if nobody waits for that
}

// first begins a computation that a reader waits for; the returned function ends it.
func (t *turns) first() (end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waited++
	return t.end
}

func (t *turns) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waited--; t.waited == 0 && t.noneLeft != nil {
		close(t.noneLeft)
		t.noneLeft = nil
	}
}

// last returns when no reader waits, or with the error of the context.
func (t *turns) last(ctx context.Context) error {
	for {
		left := t.left()
		if left == nil {
			return ctx.Err()
		}
		select {
		case <-left:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// left returns what is closed when no reader waits any more, nil if none does.
func (t *turns) left() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waited == 0 {
		return nil
	}
	if t.noneLeft == nil {
		t.noneLeft = make(chan struct{})
	}
	return t.noneLeft
}
