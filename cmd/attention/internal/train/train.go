// Package train is the command attention train, which trains a language model on a text.
package train

import (
	"context"
	"fmt"
	"io"

	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/run"
	"attention/cmd/attention/internal/term"
	"attention/internal/oneline"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// New returns the command attention train.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "train",
		Short:   "Train a language model on a text: a GPT, or one attention layer",
		Long:    help,
		Example: example,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("train: got %q, want only flags; a text is named by --text", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, release := term.UntilSignal(cmd.Context(), append(term.LostSignals(), term.FinishSignals()...)...)
			defer release()
			return term.WithSignal(ctx, execute(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr(), cmd.Flags()))
		},
	}
	cmd.SetFlagErrorFunc(flags.CommandError)
	run.AddFlags(cmd.Flags())
	addPageFlags(cmd.Flags())
	return cmd
}

// execute begins or resumes a run.
func execute(ctx context.Context, w, notes io.Writer, flags *pflag.FlagSet) (err error) {
	p, leave, err := join()
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	var page page
	err = p.execute(ctx, w, notes, flags, &page)
	defer func() { err = oneline.Join(err, page.close()) }()
	if term.IsInterrupted(err) && term.Finishes(ctx) { // the signal asked for this end
		if p.lead() {
			fmt.Fprintln(w, term.OneLine(err))
		}
		err = nil
	}
	if term.IsInterrupted(err) { // mpirun ends its processes and does not answer any more
		return err
	}
	switch err = oneline.Join(err, leave()); {
	case err == nil:
		page.wait(ctx)
	case p != nil && !p.lead():
		lag()
	}
	return err
}
