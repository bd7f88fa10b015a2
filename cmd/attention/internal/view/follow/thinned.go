package follow

import (
	"context"

	"attention/train/record"
)

// most is how many values a thinned list holds.
const most = 4096

// thinned holds the first and the last of many values, and some values between them at regular intervals.
type thinned[T any] struct {
	kept  []T
	every int // the number of a kept value is a multiple of this; the last value is kept, too
	last  int // number of the last value, from 0
}

// add adds a value.
func (l *thinned[T]) add(v T) {
	n := len(l.kept)
	if n == 0 {
		*l = thinned[T]{kept: []T{v}, every: 1}
		return
	}
	if l.last%l.every != 0 {
		l.kept = l.kept[:n-1]
	}
	l.last++
	if l.kept = append(l.kept, v); len(l.kept) <= most {
		return
	}
	l.every *= 2
	half := l.kept[:0]
	for i, v := range l.kept {
		if i%2 == 0 || i == len(l.kept)-1 {
			half = append(half, v)
		}
	}
	l.kept = half
}

// end returns the last value, or false if there is none.
func (l *thinned[T]) end() (v T, ok bool) {
	if len(l.kept) == 0 {
		return v, false
	}
	return l.kept[len(l.kept)-1], true
}

// setEnd replaces the last value.
func (l *thinned[T]) setEnd(v T) { l.kept[len(l.kept)-1] = v }

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
