package follow

import (
	"context"

	"attention/train/record"
)

// recorded is the recording of a run's weights, which is read once for all callers.
type recorded struct {
	dir  string
	turn chan struct{} // holds a token while a caller reads
	last *record.Recording
}

func newRecorded(dir string) recorded { return recorded{dir: dir, turn: make(chan struct{}, 1)} }

// Recording returns the recorded changes of the run's weights, and the same value until the run has recorded more.
// Concurrent calls wait for each other or until ctx is done.
func (r *Run) Recording(ctx context.Context) (*record.Recording, error) {
	w := &r.recorded
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	read, err := record.Read(ctx, w.dir, w.last)
	if err != nil {
		return nil, err
	}
	w.last = read
	return read, nil
}
