package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"attention/cmd/attention/internal/run"
	"attention/internal/oneline"
	"attention/train"

	"github.com/spf13/pflag"
)

// resumeRun resumes the run of a folder. What is worth a note goes to notes.
func resumeRun(ctx context.Context, w, notes io.Writer, flags *pflag.FlagSet) error {
	path, checkpoint := run.Given(flags, "resume"), ""
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		path, checkpoint = filepath.Dir(filepath.Dir(path)), path
	}
	config, err := run.ReadConfig(path)
	if err != nil {
		return err
	}
	if err := config.Resume(flags); err != nil {
		return err
	}
	f, err := run.OpenFolder(path, config.Checkpoints)
	if err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	r, err := restoreRun(w, f, config, checkpoint)
	if err == nil {
		r.command = run.CommandLine("train", flags)
		err = r.config.Write(f)
	}
	if err != nil {
		return oneline.Join(err, f.Close())
	}
	run.NoteKernels(notes, r.loop)
	return r.run(ctx)
}

// restoreRun recreates the run of a config and restores its newest checkpoint, or the given one. Without a checkpoint
// the run starts over.
func restoreRun(w io.Writer, f *run.Folder, config run.Config, checkpoint string) (*training, error) {
	c, err := run.ReadCorpus(config)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; if it has moved, give its path with --text", err)
	}
	if err != nil {
		return nil, err
	}
	r, err := newTraining(w, config, c)
	if err != nil {
		return nil, err
	}
	r.folder = f
	if err := r.watch(); err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	if err := r.restore(checkpoint); err != nil {
		return nil, err
	}
	if taken := r.loop.Steps(); taken > config.Training.Steps {
		return nil, fmt.Errorf("--steps: got %d, want at least the %d that the run has taken", config.Training.Steps, taken)
	}
	r.history, err = f.ResumeMetrics(r.loop.Steps(), r.loop.Evaluated(), r.loop.Notes()[metricsNote])
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	if r.report, err = run.ResumeReport(f); err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	return r, nil
}

func (r *training) restore(checkpoint string) error {
	found, err := true, error(nil)
	if checkpoint == "" {
		found, err = r.folder.Checkpoints.Restore(r.loop, r.training)
	} else {
		err = r.loop.Restore(checkpoint, r.training)
	}
	var damaged *train.DamagedError
	switch {
	case errors.As(err, &damaged) && damaged.Intact != "":
		return fmt.Errorf("--resume: %w; resume from it with: %s", err, run.ResumeCommand(damaged.Intact))
	case err != nil:
		return fmt.Errorf("--resume: %w", err)
	case !found:
		if err := r.requireFresh(); err != nil {
			return err
		}
		if err := r.readInit(); err != nil {
			return fmt.Errorf("--resume: %w", err)
		}
	}
	return nil
}

// requireFresh returns an error for a run that has trained past its first checkpoint but has none.
func (r *training) requireFresh() error {
	steps, err := r.folder.StepsTaken()
	if err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	every := r.config.Checkpoints.Every
	_, err = os.Stat(filepath.Join(r.folder.Path, run.ModelFile))
	if err == nil || every > 0 && steps > every {
		return fmt.Errorf("--resume: %s: got no checkpoint of a run that has taken %d steps, want one; "+
			"start again with --config %s", r.folder.Path, steps, filepath.Join(r.folder.Path, run.ConfigFile))
	}
	return nil
}
