// Package train is the command attention train, which trains a language model on a text.
package train

import (
	"context"
	"fmt"
	"io"

	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/view/live"
	"attention/internal/moved"

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

// run takes the remaining steps and writes the result to the folder.
func (r *training) run(ctx context.Context) error {
	var before []moved.Tensor
	if r.Leads() {
		before = moved.Snapshot(r.Params.All(), r.Params.Len(), mostShown, lastShown)
	}
	return r.Run(ctx, func(trained error) (saved, sampled error) {
		r.printSummary()
		if saved = r.save(); saved == nil && trained == nil {
			sampled = r.printSample(ctx)
		}
		r.printUpdates(before)
		return saved, sampled
	})
}

// save writes the model and the pictures.
func (r *training) save() error {
	files := []session.File{{Name: session.LossPicture, Fill: r.drawLoss}}
	if m, ok := r.model.Network.(settings.AttentionNetwork); ok {
		files = append(files, session.File{Name: session.AttentionPicture,
			Fill: func(w io.Writer) error { return r.drawWeights(w, m) }})
	}
	if err := r.Save(files...); err != nil {
		return fmt.Errorf("%w; once that is mended, write the files anew with: %s", err, r.ResumeCommand(r.Folder.Path))
	}
	return nil
}
