package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal is a context that the first of some signals ends, until it is released.
func untilSignal(parent context.Context, signals ...os.Signal) (ctx context.Context, release func()) {
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

// signalled is an error of a command that a signal has ended, which it does not tell.
type signalled struct {
	error
	signal os.Signal
}

func (s signalled) Unwrap() error { return s.error }

// withSignal adds to a command's error the signal that has ended its context, if one has.
func withSignal(ctx context.Context, err error) error {
	var cause signalled
	if err == nil || !errors.As(context.Cause(ctx), &cause) {
		return err
	}
	return signalled{err, cause.signal}
}

// interrupted is the error of a command that a signal ended in good order.
type interrupted struct{ error }

func (e interrupted) Unwrap() error { return e.error }

// exitCode is the program's exit code after an error: 1, or that of a shell's command
// after a signal, of Ctrl-C if it is not known which.
func exitCode(err error) int {
	if !errors.As(err, &interrupted{}) {
		return 1
	}
	number := syscall.SIGINT
	var by signalled
	if errors.As(err, &by) {
		number, _ = by.signal.(syscall.Signal)
	}
	return 128 + int(number)
}
