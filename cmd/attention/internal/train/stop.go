package train

import (
	"context"
	"errors"
	"fmt"

	"attention/cmd/attention/internal/run"
	"attention/cmd/attention/internal/term"
	"attention/internal/oneline"
	"attention/train"
)

// explain adds to the error of a run how to resume it, or what may help. An interrupted
// run that has saved a checkpoint ended properly.
func (r *training) explain(ctx context.Context, err error) error {
	if moved := r.folder.CheckPlace(); moved != nil { // no path leads to a checkpoint
		return oneline.Join(err, moved)
	}
	newest := r.folder.Newest()
	if r.stopped(ctx, err) && newest == r.folder.Checkpoints.Path(r.loop.Steps()) {
		return term.Interrupted(fmt.Errorf("train: stopped after %d of %d steps; resume with: %s",
			r.loop.Steps(), r.config.Training.Steps, run.ResumeCommand(r.folder.Path)))
	}
	notFinite := errors.Is(err, train.ErrNotFinite)
	if notFinite {
		err = fmt.Errorf("%w; a smaller --lr may help", err)
	}
	switch {
	case newest == "":
		return fmt.Errorf("%w; %s holds no model", err, r.folder.Path)
	case notFinite: // resuming would repeat it
		return fmt.Errorf("%w; the checkpoint before it is %s", err, newest)
	default:
		return fmt.Errorf("%w; resume from %s with: %s", err, newest, run.ResumeCommand(r.folder.Path))
	}
}
