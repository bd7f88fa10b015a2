// Package term is the program's interface to the terminal: output, progress, signals and exit codes.
package term

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs a command tree until it is done or SIGINT or SIGTERM ends its context, prints its error and returns the
// exit code. A second signal ends the program at once.
func Main(root *cobra.Command) (code int) {
	ctx, stop := UntilSignal(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "attention: "+OneLine(err))
		return ExitCode(WithSignal(ctx, err))
	}
	return 0
}

// OneLine returns the text of an error on one line.
func OneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
