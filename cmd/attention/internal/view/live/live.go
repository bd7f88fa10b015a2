package live

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/view/forward"
)

// live gives the page copies of the weights of a model in training, which are made between two steps. A copy is made
// only when the page asks for one.
type live struct {
	run   *session.Session
	open  func() (*models.OpenModel, error) // requests that wait for a copy of the current weights
	asked chan chan<- copied
	rests chan struct{} // closed when training is over and the weights no longer change

	mu   sync.Mutex // locked while the weights are copied after that
	last copied
}

// copied is a copy of the model, or the reason why there is none.
type copied struct {
	model *forward.Model
	err   error
}

func newLive(s *session.Session, open func() (*models.OpenModel, error)) *live {
	return &live{run: s, open: open, asked: make(chan chan<- copied), rests: make(chan struct{})}
}

// waiting is the number of pages that ask for weights now.
var waiting atomic.Int32

// Waiting reports whether a page has requested the weights of a run that trains in this process.
func Waiting() bool { return waiting.Load() > 0 }

// now waits for the end of the step and returns the model.
func (l *live) now(ctx context.Context) (*forward.Model, error) {
	waiting.Add(1)
	defer waiting.Add(-1)
	answer := make(chan copied, 1)
	select {
	case l.asked <- answer:
		got := <-answer
		return got.model, got.err
	case <-l.rests:
		l.mu.Lock()
		defer l.mu.Unlock()
		l.copy()
		return l.last.model, l.last.err
	case <-ctx.Done():
		return nil, errors.New("the run ends; attention view --model shows what it saves")
	}
}

// between sends a copy of the weights to every waiting caller of now.
func (l *live) between() {
	for {
		select {
		case answer := <-l.asked:
			l.copy()
			answer <- l.last
		default:
			return
		}
	}
}

// copy copies the weights, unless the last copy has them.
func (l *live) copy() {
	s := l.run
	steps := cmp.Or(s.Best, s.Loop.Steps())
	if l.last.model != nil && l.last.model.Steps == steps {
		return
	}
	m, err := l.open()
	if err != nil {
		l.last = copied{err: err}
		return
	}
	l.last = copied{model: forward.Of(models.Name(s.Folder.Path), m, steps)}
}
