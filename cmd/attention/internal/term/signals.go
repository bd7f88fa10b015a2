package term

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// UntilSignal returns a context that the first of the signals ends, and a function that ends the wait for them.
func UntilSignal(parent context.Context, signals ...os.Signal) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(parent)
	arrived := make(chan os.Signal, 1)
	if len(signals) > 0 { // none would mean all
		signal.Notify(arrived, signals...)
	}
	go func() {
		select {
		case s := <-arrived:
			cancel(signalled{context.Canceled, s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(arrived)
		cancel(nil)
	}
}

// signalled adds to an error the signal that ended its command. Its text is the error's.
type signalled struct {
	error
	signal os.Signal
}

func (s signalled) Unwrap() error { return s.error }

// WithSignal adds to a command's error the signal that ended its context, if one did.
func WithSignal(ctx context.Context, err error) error {
	var cause signalled
	if err == nil || !errors.As(context.Cause(ctx), &cause) {
		return err
	}
	return signalled{err, cause.signal}
}

// interruption is the error of a command that a signal ended in good order.
type interruption struct{ error }

func (e interruption) Unwrap() error { return e.error }

// Interrupted marks the error of a command that a signal ended in good order.
func Interrupted(err error) error { return interruption{err} }

// IsInterrupted reports whether a signal ended the command of an error in good order.
func IsInterrupted(err error) bool { return errors.As(err, &interruption{}) }

// ExitCode returns the program's exit code for an error: 1, or a shell's code for the signal that
// interrupted the command, SIGINT if the signal is not known.
func ExitCode(err error) int {
	if !IsInterrupted(err) {
		return 1
	}
	number := syscall.SIGINT
	var by signalled
	if errors.As(err, &by) {
		number, _ = by.signal.(syscall.Signal)
	}
	return 128 + int(number)
}
