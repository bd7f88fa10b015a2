// Package train is the command attention train, which trains a language model on a text.
package train

import (
	"fmt"

	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/view/live"

	"github.com/spf13/cobra"
)

// New returns the command attention train.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "train",
		Short:   "Train a language model on a text: a GPT, or one attention layer",
		Long:    summary,
		Example: example,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("got %q, want only flags; a text is named by --text", args[0])
			}
			return nil
		},
	}
	settings.AddFlags(cmd.Flags(), settings.Train)
	live.Bind(cmd, execute)
	addHelp(cmd)
	return cmd
}
