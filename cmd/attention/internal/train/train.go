// Package train is the command attention train, which trains a language model on a text.
package train

import (
	"context"
	"fmt"
	"io"

	"attention/cmd/attention/internal/run"
	"attention/cmd/attention/internal/session"
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
		Long:    summary,
		Example: example,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("got %q, want only flags; a text is named by --text", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, release := term.UntilSignal(cmd.Context(), append(term.LostSignals(), term.FinishSignals()...)...)
			defer release()
			return term.WithSignal(ctx, execute(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr(), cmd.Flags()))
		},
	}
	run.AddFlags(cmd.Flags())
	addPageFlags(cmd.Flags())
	addHelp(cmd)
	return cmd
}

// execute begins or resumes a run, in all processes of mpirun or in this one alone.
func execute(ctx context.Context, w, notes io.Writer, flags *pflag.FlagSet) (err error) {
	p, leave, err := session.Join()
	if err != nil {
		return err
	}
	var page page
	defer func() { err = oneline.Join(err, page.close()) }()
	err = command{p, w, notes, flags, &page}.execute(ctx)
	if term.IsInterrupted(err) && term.Finishes(ctx) { // the signal asked for this end
		if p.Leads() {
			fmt.Fprintln(w, term.OneLine(err))
		}
		err = nil
	}
	if term.IsInterrupted(err) { // mpirun ends its processes and does not answer any more
		return err
	}
	if err := oneline.Join(err, leave()); err != nil {
		if !p.Leads() {
			session.Lag()
		}
		return err
	}
	page.wait(ctx)
	return nil
}
