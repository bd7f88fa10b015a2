package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/term"
	"attention/internal/oneline"
	"attention/train"
)

// Train makes the remaining steps and evaluates at the end. If a signal stops the run, interrupted is the error; the
// run then has a checkpoint.
func (s *Session) Train(ctx context.Context) error {
	if !s.Leads() {
		return s.follow(ctx)
	}
	s.Loop.SaveTo(s.Folder.Checkpoints)
	s.From = s.Loop.Steps()
	s.Progress = term.NewProgress(s.Out, s.Training.Steps-s.From)
	s.Kernels = program.MeasureKernels(s.Params.Dtype().String(), program.BriefPeak)
	s.printHead()
	began := program.Now()
	if err := s.Agree(s.start(ctx, began)); err != nil {
		return err
	}
	err := s.train(ctx)
	s.Progress.Clear()
	s.Report.Session().Seconds = program.Since(began).Seconds()
	if err != nil {
		return s.Explain(ctx, err)
	}
	return nil
}

// start begins the report, and the page that shows the run.
func (s *Session) start(ctx context.Context, began time.Time) error {
	s.Report.Text, s.Report.Model = s.Text, s.Model
	s.Report.Parameters, s.Report.Frozen = s.Params.Count(), s.Params.CountFrozen()
	err := s.Report.Begin(s.Folder, SessionReport{Begin: began, Command: s.CommandLine, From: s.From,
		Kernels: s.Kernels.Line(s.Params.Dtype().String())})
	if err != nil {
		return err
	}
	return s.Page.Show(ctx, s)
}

// train runs the steps, together with the other processes. A run that was stopped also gets its best model.
func (s *Session) train(ctx context.Context) error {
	err := s.Loop.Run(ctx, s.Source, s.Validation)
	if err != nil && !s.stopped(ctx, err) {
		return err
	}
	s.Early = err == nil && s.Loop.Steps() < s.Training.Steps
	err = cmp.Or(err, s.useBest())
	s.Page.TrainingDone()
	if err != nil {
		return err
	}
	return s.evaluateWhole(ctx)
}

// follow trains in a process that does not lead, step by step with the leading process.
func (s *Session) follow(ctx context.Context) error {
	if err := s.Agree(nil); err != nil { // that the report is begun
		return err
	}
	err := s.train(ctx)
	if s.stopped(ctx, err) {
		return term.Interrupted(err)
	}
	return err
}

// stopped reports whether err means that a signal stopped the run, in this process or in another.
func (s *Session) stopped(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return errors.Is(err, ctx.Err())
	}
	return s.Size() > 1 && errors.Is(err, context.Canceled)
}

// useBest gives the model the weights with the lowest validation loss, if Training.KeepBest is set and there has been
// a validation.
func (s *Session) useBest() error {
	best := s.Loop.Best().Step
	if !s.Training.KeepBest || best == 0 {
		return nil
	}
	s.Best = best
	return s.Loop.UseBest()
}

// evaluateWhole evaluates on the whole validation data if the evaluations during training saw only parts of it.
func (s *Session) evaluateWhole(ctx context.Context) error {
	if s.EvalBatches == 0 {
		return nil
	}
	e, err := s.Loop.Evaluate(ctx, s.Whole)
	if err != nil {
		return err
	}
	s.Last = &e
	if s.Leads() {
		s.Folder.Metrics.AddEvaluation(e, 0)
	}
	return nil
}

// Run takes the remaining steps, and finishes: it saves and prints the results. trained is the error of a run that a
// signal stopped; such a run has a model only if its kind keeps one. The error failed is written to the report, shown
// is not. failed goes into the report, shown does not.
func (s *Session) Run(ctx context.Context, finish func(trained error) (failed, shown error)) error {
	if !s.Leads() {
		return s.Train(ctx)
	}
	defer s.Folder.Close()
	trained := s.Train(ctx)
	if trained != nil && !(s.KeepsStopped && term.IsInterrupted(trained) && s.Loop.Steps() > 0) {
		return s.fail(trained)
	}
	failed, shown := finish(trained)
	ended := s.end(cmp.Or(trained, failed))
	s.printTraffic()
	if err := oneline.Join(trained, failed, shown, ended, s.Out.Err()); err != nil {
		return err
	}
	s.printEnd()
	return s.Out.Err()
}

// Explain adds to the error of a run how to resume it, or how to avoid the error. If a signal stopped the run and it
// has saved a checkpoint, this is not an error.
func (s *Session) Explain(ctx context.Context, err error) error {
	if moved := s.Folder.CheckPlace(); moved != nil { // no path leads to a checkpoint
		return oneline.Join(err, moved)
	}
	path := s.Folder.Path
	newest, unread := s.Folder.Newest()
	if s.stopped(ctx, err) && newest == s.Folder.Checkpoints.Path(s.Loop.Steps()) {
		return term.Interrupted(fmt.Errorf("stopped after %d of %d steps; resume with: %s",
			s.Loop.Steps(), s.Training.Steps, s.ResumeCommand(path)))
	}
	notFinite := errors.Is(err, train.ErrNotFinite)
	if notFinite && s.Hints.NotFinite != "" {
		err = fmt.Errorf("%w; %s", err, s.Hints.NotFinite)
	}
	switch {
	case unread != nil && notFinite:
		return fmt.Errorf("%w; the checkpoints of %s cannot be read", err, path)
	case unread != nil:
		return fmt.Errorf("%w; the checkpoints of %s cannot be read; once they can, resume with: %s",
			err, path, s.ResumeCommand(path))
	case newest == "" && s.stopped(ctx, err) && s.requireFresh() == nil:
		return fmt.Errorf("%w; to begin it again: %s", err, s.ResumeCommand(path))
	case newest == "":
		return fmt.Errorf("%w; %s holds no model", err, path)
	case notFinite: // the resumed run would fail in the same way
		return fmt.Errorf("%w; the checkpoint before it is %s", err, newest)
	default:
		return fmt.Errorf("%w; resume from %s with: %s", err, newest, s.ResumeCommand(path))
	}
}

// File is a file of the folder with what writes it.
type File struct {
	Name string
	Fill func(io.Writer) error
}

// Save writes the model, these files and the pictures of the recording. If one file fails, it still writes all other
// files.
func (s *Session) Save(files ...File) error {
	f := s.Folder
	s.mendMetrics()
	errs := []error{f.WriteModel(s.About, s.Params, s.Loop.Steps(), s.Best)}
	for _, file := range files {
		errs = append(errs, f.Write(file.Name, file.Fill))
	}
	return oneline.Join(append(errs, f.DrawRecord(s.Params, s.Drawn, s.Title), f.Metrics.Close(), f.CheckConfig(),
		f.CheckPlace())...)
}

// end ends the session in report.json with an error or nil.
func (s *Session) end(err error) error {
	s.Report.Best, s.Report.Losses = s.Best, s.Losses()
	return s.Report.End(s.Folder, s.Loop.Steps(), err)
}

// fail ends a session that has nothing to save with an error, and returns it.
func (s *Session) fail(err error) error {
	_ = s.end(err) // the reader already has the first error
	s.mendMetrics()
	return oneline.Join(err, s.Folder.Metrics.Close(), s.Out.Err())
}
