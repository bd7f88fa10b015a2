package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/internal/oneline"
	"attention/internal/simd"
	"attention/train/checkpoint"
	"attention/train/metrics"
)

// Begin makes the folder of a new run at path, or the first free one of runs/1, runs/2, … if path is empty.
func (s *Session) Begin(path string) error {
	if err := s.Agree(s.init()); err != nil {
		return err
	}
	if err := s.checkAlike(); err != nil {
		return err
	}
	return s.lead(func() (err error) {
		if s.Folder, err = NewFolder(path, s.Checkpoints); err != nil {
			if in, wrong := models.Inspect(path); wrong == nil && in.IsRun() {
				err = fmt.Errorf("%w; to go on with the run that it holds: %s", err, s.ResumeCommand(path))
			}
			return err
		}
		if err := s.beginFiles(); err != nil {
			return oneline.Join(err, s.Folder.Close())
		}
		return nil
	})
}

func (s *Session) beginFiles() (err error) {
	for name, content := range s.Files {
		if err := s.Folder.Write(name, func(w io.Writer) error { _, err := w.Write(content); return err }); err != nil {
			return err
		}
	}
	if err = s.Folder.WriteConfig(s.Config); err != nil {
		return err
	}
	if s.Folder.Metrics, err = metrics.Begin(s.Folder.dir); err != nil {
		return err
	}
	return s.Folder.RecordTo(s.Loop, s.Record)
}

// Resume restores the run of a folder from a checkpoint file, or from the newest checkpoint if file is empty. Without
// checkpoints the run starts over. Notes for the user go to notes.
func (s *Session) Resume(dir, file string, notes io.Writer) error {
	err := s.resume(dir, file)
	if err != nil && s.Folder != nil {
		return oneline.Join(err, s.Folder.Close())
	}
	if err != nil || s.restored == nil {
		return err
	}
	lines := differences(s.restored)
	if s.Folder != nil {
		lines = append(lines, s.Folder.lost(s.Loop.Steps())...)
	}
	for _, line := range lines {
		program.Note(notes, "--resume: %s", line)
	}
	return nil
}

func (s *Session) resume(dir, file string) error {
	if err := s.lead(func() error { return resumeError(s.openFolder(dir)) }); err != nil {
		return err
	}
	restore := s.restore
	if s.Folder == nil {
		restore = func(file string) error { return s.restoreBeside(dir, file) }
	}
	if err := s.Agree(resumeError(restore(file))); err != nil {
		return err
	}
	if err := s.Agree(s.checkSteps()); err != nil {
		return err
	}
	if err := s.checkAlike(); err != nil {
		return err
	}
	return s.lead(func() error { return resumeError(s.continueFiles()) })
}

// checkSteps returns an error for a run that has taken more steps than its config allows.
func (s *Session) checkSteps() error {
	if taken, steps := s.Loop.Steps(), s.Training.Steps; taken > steps {
		return fmt.Errorf("--steps: got %d, want at least the %d that the run has taken", steps, taken)
	}
	return nil
}

func resumeError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("--resume: %w", err)
}

func (s *Session) openFolder(dir string) (err error) {
	if s.Folder, err = OpenFolder(dir, s.Checkpoints); err != nil {
		return err
	}
	return s.Folder.RecordTo(s.Loop, s.Record)
}

// restore restores a checkpoint, or the newest one if the path is empty, or else the initial weights.
func (s *Session) restore(file string) (err error) {
	if file == "" {
		s.restored, err = s.Folder.Checkpoints.Restore(s.Loop, s.Source)
	} else {
		s.restored, err = checkpoint.Restore(s.Loop, file, s.Source)
	}
	if damaged, ok := errors.AsType[*checkpoint.DamagedError](err); ok && damaged.Intact != "" {
		return fmt.Errorf("%w; resume from it with: %s", err, s.ResumeCommand(damaged.Intact))
	}
	if err != nil || s.restored != nil {
		return err
	}
	if err := s.requireFresh(); err != nil {
		return err
	}
	return s.init()
}

func (s *Session) init() error {
	if s.Init == nil {
		return nil
	}
	return s.Init()
}

// restoreBeside restores the same checkpoint as the leading process in another process. The leading process owns the
// folder, and writes no checkpoint until all processes have read.
func (s *Session) restoreBeside(dir, file string) (err error) {
	if file == "" {
		if file, err = newestIn(filepath.Join(dir, settings.CheckpointsFolder)); err != nil {
			return err
		}
	}
	if file == "" {
		return s.init()
	}
	s.restored, err = checkpoint.Restore(s.Loop, file, s.Source)
	return err
}

// requireFresh returns an error for a run that has trained past its first checkpoint but has none. If the user can
// start a new run instead, the model of this one is not overwritten either.
func (s *Session) requireFresh() error {
	h, err := metrics.Read(s.Folder.Path)
	if err != nil {
		return err
	}
	steps, every, again := len(h.Steps), s.Checkpoints.Every, s.Hints.StartAgain
	_, err = os.Stat(filepath.Join(s.Folder.Path, settings.ModelFile))
	if hasModel := err == nil && again != nil; !hasModel && (every == 0 || steps <= every) {
		return nil
	}
	err = fmt.Errorf("%s: got no checkpoint of a run that has taken %d steps, want one", s.Folder.Path, steps)
	if again != nil {
		err = fmt.Errorf("%w; start again with %s", err, again(s.Folder.Path))
	}
	return err
}

// continueFiles opens the files to which the run appends, and writes its config.
func (s *Session) continueFiles() (err error) {
	l := s.Loop.State()
	s.Folder.Metrics, s.History, err = metrics.Resume(s.Folder.dir, l.Steps, l.Evaluated, l.Notes[metricsNote])
	if err != nil {
		return s.withoutLines(l.Steps, err)
	}
	if s.Report, err = ResumeReport(s.Folder); err != nil {
		return err
	}
	return s.Folder.WriteConfig(s.Config)
}

// ResumeCommand returns the shell command that resumes a run.
func (s *Session) ResumeCommand(path string) string {
	return program.Command(s.Command, "--resume", path)
}

// differences returns a line for each difference between the program that wrote a checkpoint and this one.
func differences(r *checkpoint.Restored) (lines []string) {
	if r.Kernels != "" {
		lines = append(lines, fmt.Sprintf("the checkpoint was written with the kernels %.20q, not %q: "+
			"bits may differ from those of a run that never stopped", r.Kernels, simd.InstructionSet()))
	}
	if r.Precision != "" {
		lines = append(lines, fmt.Sprintf("the checkpoint was written in the precision %.20q, which now is another: "+
			"bits differ from those of a run that never stopped", r.Precision))
	}
	return lines
}

// newestIn returns the path of the newest checkpoint in a folder of checkpoints, or "" if there is none.
func newestIn(folder string) (string, error) {
	steps, err := checkpoint.Steps(folder)
	if err != nil || len(steps) == 0 {
		return "", err
	}
	return checkpoint.Path(folder, steps[len(steps)-1]), nil
}
