package term

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// UntilSignal returns a context that the first of the signals cancels, and a function that stops waiting for them.
// SIGPIPE counts only if the output has lost its reader, because a browser that closes its connection causes it, too.
func UntilSignal(parent context.Context, signals ...os.Signal) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(parent)
	counts, perhaps := arrivals(signals...)
	go func() {
		for {
			select {
			case s := <-counts:
				cancel(signalled{context.Canceled, s})
			case s := <-perhaps:
				if !ofConnection() {
					cancel(signalled{context.Canceled, s})
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(counts)
		signal.Stop(perhaps)
		cancel(nil)
	}
}

// arrivals returns a channel that receives the first of the signals, and another one for SIGPIPE, which may not count.
// SIGPIPE has its own channel because a signal is lost if it arrives while another one is in the channel.
func arrivals(signals ...os.Signal) (counts, perhaps chan os.Signal) {
	counts, perhaps = make(chan os.Signal, 1), make(chan os.Signal, 1)
	for _, s := range signals {
		if isPipe(s) {
			signal.Notify(perhaps, s)
		} else {
			signal.Notify(counts, s)
		}
	}
	return counts, perhaps
}

// signalled is an error with the signal that ended its command. Its text is the error's.
type signalled struct {
	error
	signal os.Signal
}

func (s signalled) Unwrap() error { return s.error }

// WithSignal returns a command's error with the signal that ended its context, if one did.
func WithSignal(ctx context.Context, err error) error {
	var cause signalled
	if err == nil || !errors.As(context.Cause(ctx), &cause) {
		return err
	}
	return signalled{err, cause.signal}
}

// interruption is the error of a command that stopped cleanly after a signal.
type interruption struct{ error }

func (e interruption) Unwrap() error { return e.error }

// Interrupted marks the error of a command that stopped cleanly after a signal.
func Interrupted(err error) error { return interruption{err} }

// Stopped returns the error of a command that returned err and has nothing to save: an Interrupted one if the end of
// its context is the reason.
func Stopped(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		return err
	}
	return Interrupted(errors.New("interrupted"))
}

// IsInterrupted reports whether err is the error of a command that stopped cleanly after a signal.
func IsInterrupted(err error) bool { return errors.As(err, &interruption{}) }

// Finishes reports whether one of FinishSignals ended the context.
func Finishes(ctx context.Context) bool {
	var by signalled
	return errors.As(context.Cause(ctx), &by) && slices.Contains(FinishSignals(), by.signal)
}

// reported is an error that another process prints.
type reported struct{ error }

func (e reported) Unwrap() error { return e.error }

// Reported marks an error that another process of the same command prints. The program ends with its exit code.
func Reported(err error) error { return reported{err} }

func isReported(err error) bool { return errors.As(err, &reported{}) }

// ExitCode returns the program's exit code for an error: 1, or 128 plus the signal that interrupted the
// command, SIGINT if the signal is not known.
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
