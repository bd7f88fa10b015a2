package translate

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"attention/cmd/attention/internal/dates"
	"attention/cmd/attention/internal/run"
	"attention/internal/oneline"
	"attention/train"
)

// resumeTranslation restores the run of a folder from its newest checkpoint, or from the one that --resume names.
// Without a checkpoint the run starts over.
func resumeTranslation(w, notes io.Writer, o options) (*translation, error) {
	path, checkpoint := o.resume, ""
	if filepath.Base(filepath.Dir(path)) == run.CheckpointsFolder {
		path, checkpoint = filepath.Dir(filepath.Dir(path)), path
	}
	var err error
	if o.settings, err = dates.ReadSettings(path); err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	r, err := newTranslation(w, o)
	if err != nil {
		return nil, err
	}
	if r.folder, err = run.OpenFolder(path, checkpoints); err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	r.Name = r.folder.Name()
	if err = r.watch(); err == nil {
		err = r.restore(checkpoint)
	}
	if err == nil {
		r.report, err = run.ResumeReport(r.folder)
	}
	if err != nil {
		return nil, oneline.Join(fmt.Errorf("--resume: %w", err), r.folder.Close())
	}
	run.NoteKernels(notes, r.loop)
	return r, nil
}

// restore restores a checkpoint, the newest one if path is empty, and opens metrics.jsonl behind its steps.
func (r *translation) restore(path string) error {
	found, err := true, error(nil)
	if path == "" {
		found, err = r.folder.Checkpoints.Restore(r.loop, r.training)
	} else {
		err = r.loop.Restore(path, r.training)
	}
	var damaged *train.DamagedError
	if errors.As(err, &damaged) && damaged.Intact != "" {
		return fmt.Errorf("%w; resume from it with: %s", err, resumeCommand(damaged.Intact))
	}
	if err != nil {
		return err
	}
	if !found {
		taken, err := r.folder.StepsTaken()
		if err != nil {
			return err
		}
		if taken > checkpoints.Every {
			return fmt.Errorf("%s: got no checkpoint of a run that has taken %d steps, want one", r.folder.Path, taken)
		}
	}
	r.history, err = r.folder.ResumeMetrics(r.loop.Steps(), r.loop.Evaluated(), r.loop.Notes()[metricsNote])
	return err
}
