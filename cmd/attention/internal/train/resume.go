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
func resumeRun(ctx context.Context, w, notes io.Writer, flags *pflag.FlagSet, p *processes, page *page) error {
	path, checkpoint := run.Given(flags, "resume"), ""
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		path, checkpoint = filepath.Dir(filepath.Dir(path)), path
	}
	config, err := run.ReadConfig(path)
	if err == nil {
		err = config.Resume(flags)
	}
	if err == nil {
		err = p.checkShares(config, true)
	}
	if err := p.agree(err); err != nil {
		return err
	}
	var f *run.Folder
	if p.lead() {
		if f, err = run.OpenFolder(path, config.Checkpoints); err != nil {
			err = fmt.Errorf("--resume: %w", err)
		}
	}
	if err := p.agree(err); err != nil {
		return oneline.Join(err, closed(f))
	}
	r, err := restoreRun(w, f, config, path, checkpoint, p)
	if err := p.agree(err); err != nil {
		return oneline.Join(err, closed(f))
	}
	if err := r.checkAlike(); err != nil {
		return oneline.Join(err, closed(f))
	}
	if p.lead() {
		err = r.continueFolder(f)
	}
	if err := p.agree(err); err != nil {
		return oneline.Join(err, closed(f))
	}
	r.command, r.page = run.CommandLine("train", flags), page
	run.NoteKernels(notes, r.loop)
	return r.run(ctx)
}

// closed closes a folder, unless it is nil.
func closed(f *run.Folder) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// restoreRun recreates the run of a config and restores its newest checkpoint, or the given one. Without a checkpoint
// the run starts over. It writes nothing.
func restoreRun(w io.Writer, f *run.Folder, config run.Config, path, checkpoint string, p *processes) (
	*training, error) {
	c, err := run.ReadCorpus(config)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; if it has moved, give its path with --text", err)
	}
	if err != nil {
		return nil, err
	}
	r, err := newTraining(w, config, c, p)
	if err != nil {
		return nil, err
	}
	if r.folder = f; f == nil {
		return r, r.restoreBeside(path, checkpoint)
	}
	if err := r.watch(); err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	if err := r.restore(checkpoint); err != nil {
		return nil, err
	}
	if taken := r.loop.Steps(); taken > config.Training.Steps {
		return nil, fmt.Errorf("--steps: got %d, want at least the %d that the run has taken", config.Training.Steps, taken)
	}
	return r, nil
}

// continueFolder opens the files of the folder that the run adds to, and writes its config.
func (r *training) continueFolder(f *run.Folder) (err error) {
	r.history, err = f.ResumeMetrics(r.loop.Steps(), r.loop.Evaluated(), r.loop.Notes()[metricsNote])
	if err == nil {
		r.report, err = run.ResumeReport(f)
	}
	if err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	return r.config.Write(f)
}

// restoreBeside restores what rank 0 does, in another process. Rank 0 has the folder; until all have read, it writes
// no checkpoint.
func (r *training) restoreBeside(path, checkpoint string) error {
	if checkpoint == "" {
		steps, err := train.CheckpointSteps(filepath.Join(path, run.CheckpointsFolder))
		if err != nil {
			return fmt.Errorf("--resume: %w", err)
		}
		if len(steps) == 0 {
			return r.readInit()
		}
		checkpoint = train.CheckpointPath(filepath.Join(path, run.CheckpointsFolder), steps[len(steps)-1])
	}
	if err := r.loop.Restore(checkpoint, r.training); err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	return nil
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
