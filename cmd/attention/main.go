// Command attention shows, checks, trains and applies attention layers built as Gorgonia
// expression graphs. See attention --help.
package main

import (
	"os"

	"attention/cmd/attention/internal/apply"
	"attention/cmd/attention/internal/bench"
	"attention/cmd/attention/internal/chapter"
	"attention/cmd/attention/internal/export"
	"attention/cmd/attention/internal/generate"
	"attention/cmd/attention/internal/gradcheck"
	"attention/cmd/attention/internal/term"
	"attention/cmd/attention/internal/train"
	"attention/cmd/attention/internal/translate"

	"github.com/spf13/cobra"
)

func main() { os.Exit(term.Main(newRoot())) }

// newRoot returns the command tree. Commands print to their own OutOrStdout and return
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
	root.AddCommand(train.New(), chapter.New(), gradcheck.New(), apply.New(), bench.New(),
		generate.New(), export.New(), translate.New())
	return root
}
