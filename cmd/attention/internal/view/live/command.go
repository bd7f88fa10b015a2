// Package live has the common parts of commands that train: they run in one process or several, and serve the page of
// --view.
package live

import (
	"context"
	"fmt"
	"io"

	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/term"
	"attention/internal/oneline"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Command is a command that begins or, with --resume, resumes a run, in one of the processes.
type Command struct {
	session.Processes
	Out, Notes io.Writer
	Flags      *pflag.FlagSet
	Page       *Page
}

// Bind lets a command call train in all processes of mpirun or in this one alone, until a signal ends its context, and
// adds the flags of the page.
func Bind(cmd *cobra.Command, train func(context.Context, Command) error) {
	var page Page
	page.AddFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, release := term.UntilSignal(cmd.Context(), append(term.LostSignals(), term.FinishSignals()...)...)
		defer release()
		return term.WithSignal(ctx, execute(ctx, cmd, &page, train))
	}
}

// execute continues to serve the page after the run until the context ends.
func execute(ctx context.Context, cmd *cobra.Command, page *Page, train func(context.Context, Command) error) (
	err error) {
	p, leave, err := session.Join()
	if err != nil {
		return err
	}
	defer func() { err = oneline.Join(err, page.Close()) }()
	err = Command{p, cmd.OutOrStdout(), cmd.ErrOrStderr(), cmd.Flags(), page}.Do(ctx, train)
	if term.IsInterrupted(err) && term.Finishes(ctx) { // the signal asked for this end
		if p.Leads() {
			fmt.Fprintln(cmd.OutOrStdout(), term.OneLine(err))
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

// Do calls train. The leading process prints its output. It also prints the error if any process has one.
func (c Command) Do(ctx context.Context, train func(context.Context, Command) error) error {
	if !c.Leads() {
		c.Out, c.Notes = io.Discard, io.Discard
	}
	return c.Together(train(ctx, c))
}

// Start listens for --view if the check of the flags returns nil in each process. It returns an error if the processes
// do not all begin a run, or all resume one.
func (c Command) Start(check func() error) error {
	err := check()
	if err == nil && c.Leads() {
		err = c.Page.listen(c.Flags, c.Notes)
	}
	if err := c.Agree(err); err != nil {
		return err
	}
	return c.SameTask(c.Flags.Changed("resume"))
}
