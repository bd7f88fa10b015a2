package train

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"attention/cmd/attention/internal/run"
	"attention/cmd/attention/internal/view/look"
)

// live gives the page of a running training copies of the model's weights, made between two steps. A copy is made only
// when the page asks for one.
type live struct {
	run   *training
	asked chan chan<- copied
	rests chan struct{} // closed when training is over and the weights change no more

	mu   sync.Mutex // held to copy the weights after that
	last copied
}

// copied is a copy of the model, or why there is none.
type copied struct {
	model *look.Model
	err   error
}

func newLive(r *training) *live {
	return &live{run: r, asked: make(chan chan<- copied), rests: make(chan struct{})}
}

// now waits for the end of the step and returns the model.
func (l *live) now(ctx context.Context) (*look.Model, error) {
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
	r := l.run
	steps := cmp.Or(r.Best, r.Loop.Steps())
	if l.last.model != nil && l.last.model.Steps == steps {
		return
	}
	m, err := r.config.Copy(r.model.Params(), r.corpus.Tokenizer)
	if err != nil {
		l.last = copied{err: err}
		return
	}
	l.last = copied{model: look.Of(run.Name(r.Folder.Path), m, steps)}
}
