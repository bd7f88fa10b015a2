// Command attention shows, checks, trains and applies attention layers that are
// Gorgonia expression graphs. See attention --help.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := untilSignal(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	if err := newRoot().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "attention: "+oneLine(err))
		os.Exit(exitCode(withSignal(ctx, err)))
	}
}

// newRoot is the command tree. Commands print to their own OutOrStdout and return
// their errors; only main exits.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "attention",
		Short:         "Trainable attention on Gorgonia",
		Long:          "attention shows, checks, trains and applies attention layers that are Gorgonia expression graphs.",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newTrainCommand(), newChapterCommand(), newGradcheckCommand(), newApplyCommand(), newBenchCommand(),
		newGenerateCommand(), newExportCommand(), newTranslateCommand())
	return root
}

// oneLine keeps an error to one line of the terminal.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
