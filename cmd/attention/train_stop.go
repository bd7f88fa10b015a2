package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"attention/train"
)

// explain adds to the error of a run how to go on with it, or what may help. A run that
// was interrupted and has saved a checkpoint ends in good order.
func (r *trainRun) explain(ctx context.Context, err error) error {
	newest := r.folder.newest()
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) && newest == r.folder.checkpoints.Path(r.loop.Steps()) {
		return interrupted{fmt.Errorf("train: stopped after %d of %d steps; go on with: %s",
			r.loop.Steps(), r.config.Training.Steps, resumeCommand(r.folder.path))}
	}
	notFinite := errors.Is(err, train.ErrNotFinite)
	if notFinite {
		err = fmt.Errorf("%w; a smaller --lr may help", err)
	}
	switch {
	case newest == "":
		return fmt.Errorf("%w; %s holds no model", err, r.folder.path)
	case notFinite: // and would be again
		return fmt.Errorf("%w; the checkpoint before it is %s", err, newest)
	default:
		return fmt.Errorf("%w; go on from %s with: %s", err, newest, resumeCommand(r.folder.path))
	}
}

// resumeCommand is the command that goes on with a run, for a shell.
func resumeCommand(path string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+=:,@%/"
	if strings.Trim(path, plain) != "" {
		path = "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return "attention train --resume " + path
}
