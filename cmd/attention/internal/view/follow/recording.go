package follow

import (
	"context"

	"attention/train/record"
)

// recorded is what a run has recorded of its weights, read once for all who ask.
type recorded struct {
	dir  string
	turn chan struct{} // holds the one who reads
	last *record.Recording
}

func newRecorded(dir string) recorded { return recorded{dir: dir, turn: make(chan struct{}, 1)} }

// Recording returns how the run's weights moved: the same value until there is more. Who waits while another reads waits
// until the context ends.
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
