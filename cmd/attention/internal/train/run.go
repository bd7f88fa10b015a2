package train

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/term"
	"attention/internal/moved"
	"attention/internal/oneline"
)

// run takes the remaining steps and writes the result to the folder.
func (r *training) run(ctx context.Context) error {
	if !r.Leads() {
		return r.Train(ctx)
	}
	defer r.Folder.Close()
	before := moved.Snapshot(r.Params.All(), r.Params.Len(), mostShown, lastShown)
	err := r.Train(ctx)
	if err != nil && (!term.IsInterrupted(err) || r.Loop.Steps() == 0) { // there is no model to save
		return r.Fail(err)
	}
	r.printSummary()
	saved := r.save()
	var sampled error
	if saved == nil && err == nil {
		sampled = r.printSample(ctx)
	}
	reported := r.End(cmp.Or(err, saved))
	r.printUpdates(before)
	r.PrintTraffic()
	if err := oneline.Join(err, saved, sampled, reported); err != nil {
		return err
	}
	r.printFiles()
	return r.Out.Err()
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
