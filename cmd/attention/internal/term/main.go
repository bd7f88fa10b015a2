// Package term is the program's interface to the terminal: output, progress, signals and exit codes.
package term

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs a command tree until it is done or SIGINT or SIGTERM ends its context, prints its error and returns the
// exit code. A second signal ends the program at once.
func Main(root *cobra.Command) (code int) {
	ctx, stop := UntilSignal(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return run(ctx, root, os.Stdout, os.Stderr)
}

// run runs a command tree whose output and error output are screens.
func run(ctx context.Context, root *cobra.Command, stdout, stderr io.Writer) (code int) {
	out, errs := NewScreen(stdout), NewScreen(stderr)
	root.SetOut(out)
	root.SetErr(errs)
	err := cmp.Or(root.ExecuteContext(ctx), out.Flush())
	_ = errs.Flush() // an error has no place to be printed
	if err == nil {
		return 0
	}
	if !isTold(err) {
		fmt.Fprintln(errs, "attention: "+OneLine(err))
	}
	return ExitCode(WithSignal(ctx, err))
}
