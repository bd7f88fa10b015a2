package train

import (
	"context"
	"fmt"
	"io"

	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/internal/moved"
)

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
