package serve

import (
	"context"
	"sync"
	"time"
)

// drawing is the time in which a page draws an answer that a reader waits for. Meanwhile the server leaves the cores to
// it.
const drawing = 50 * time.Millisecond

// turns orders computations: those for waiting readers come before those in advance.
type turns struct {
	mu      sync.Mutex
	changed *sync.Cond // signals that fewer readers wait, or that a context is done
	readers int        // readers that wait for a computation, or for the page to draw it
}

func newTurns() *turns {
	t := new(turns)
	t.changed = sync.NewCond(&t.mu)
	return t
}

// first begins a computation for a waiting reader, and the returned function ends it. The reader sees the result a
// little later.
func (t *turns) first() (end func()) {
	t.add(1)
	return func() { time.AfterFunc(drawing, func() { t.add(-1) }) }
}

func (t *turns) add(readers int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.readers += readers
	t.changed.Broadcast()
}

// last waits until no reader waits, or returns the error of the context.
func (t *turns) last(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { t.add(0) })()
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.readers > 0 && ctx.Err() == nil {
		t.changed.Wait()
	}
	return ctx.Err()
}
