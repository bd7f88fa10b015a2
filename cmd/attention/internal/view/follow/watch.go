package follow

import (
	"context"

	"attention/train/record"
)

// watch is what a run has recorded of its weights, read once for all who ask.
type watch struct {
	dir  string
	turn chan struct{} // holds the one who reads
	last *record.Recording
}

func newWatch(dir string) watch { return watch{dir: dir, turn: make(chan struct{}, 1)} }

// Watched returns how the run's weights moved: the same value until there is more. Who waits while another reads waits
// until the context ends.
func (r *Run) Watched(ctx context.Context) (*record.Recording, error) {
	w := &r.watch
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
