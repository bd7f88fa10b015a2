package term

import (
	"context"
	"errors"
)

// Await returns what work returns, or an Interrupted error as soon as ctx is done. Nobody waits for the work then,
// which ends with the program: it is for work that neither hears a context nor prints nor writes anything.
func Await[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := work()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, Interrupted(errors.New("interrupted"))
	}
}
