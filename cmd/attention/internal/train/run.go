package train

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run"
	"attention/cmd/attention/internal/term"
	"attention/graph"
	"attention/internal/oneline"
	"attention/layers"
	"attention/train"
)

// training is one run of attention train, or the rest of one.
type training struct {
	config     run.Config
	corpus     *run.Corpus
	model      run.Model
	training   train.Resumable
	validation train.Source // of the evaluations during training
	whole      train.Source // all of the validation split
	prompt     []int        // of the sample
	loop       *train.Loop
	processes  *processes
	folder     *run.Folder // nil in other processes than rank 0
	begin      int         // steps that another process took
	history    run.History
	last       *train.Evaluation // on the whole validation split, if the others saw parts
	best       int               // step of the model after useBest, with --best
	early      bool              // the run has ended by --patience
	tabled     bool              // whether the head of the table of losses is printed
	command    string            // the command line
	report     run.Report
	kernels    program.Kernels
	precision  graph.Precision
	clip       *layers.QKClip // nil without --qk-clip
	page       *page          // nil without --view
	progress   *term.Progress
	out        *term.Output
}

// run takes the remaining steps and writes the result to the folder.
func (r *training) run(ctx context.Context) error {
	if !r.processes.lead() {
		return r.follow(ctx)
	}
	defer r.folder.Close()
	r.loop.SaveTo(r.folder.Checkpoints)
	r.begin = r.loop.Steps()
	r.progress = term.NewProgress(r.out, r.config.Training.Steps-r.begin)
	r.kernels = program.MeasureKernels(r.config.Dtype, program.BriefPeak)
	r.printHead()
	before, began := r.snapshot(), program.Now()
	r.report.Text, r.report.Model = r.config.Text.Name, r.model.String()
	r.report.Parameters, r.report.Frozen = r.model.Params().Count(), r.model.Params().CountFrozen()
	session := run.Session{Begin: began, Command: r.command, From: r.begin,
		Kernels: r.kernels.Line(r.config.Dtype)}
	err := r.report.Begin(r.folder, session)
	if err == nil {
		err = r.page.show(ctx, r)
	}
	if err := r.processes.agree(err); err != nil {
		return err
	}
	err = r.loop.Run(ctx, r.training, r.validation)
	r.early = err == nil && r.loop.Steps() < r.config.Training.Steps
	if err == nil || r.stopped(ctx, err) {
		err = cmp.Or(err, r.useBest())
		r.page.rest()
	}
	if err == nil {
		err = r.evaluateWhole(ctx)
	}
	r.progress.Clear()
	r.report.Session().Seconds = program.Since(began).Seconds()
	if err != nil {
		err = r.explain(ctx, err)
		if !term.IsInterrupted(err) || r.loop.Steps() == 0 { // there is no model to save
			_ = r.writeReport(err) // that it fails too is no news
			return oneline.Join(err, r.folder.Metrics.Close(), r.out.Err())
		}
	}
	r.printUpdates(before)
	saved := r.save()
	if saved != nil {
		saved = fmt.Errorf("%w; once that is mended, write the files anew with: %s", saved,
			run.ResumeCommand(r.folder.Path))
	}
	var sampled error
	if saved == nil && err == nil {
		sampled = r.printSample(ctx)
	}
	reported := r.writeReport(cmp.Or(err, saved))
	r.printSummary()
	r.printTraffic()
	if err := oneline.Join(err, saved, sampled, reported); err != nil {
		return err
	}
	r.printFiles()
	return r.out.Err()
}

// save writes the model and the pictures. If one file fails, it still writes the others.
func (r *training) save() error {
	f := r.folder
	errs := []error{
		f.WriteModel(r.config, r.model.Params(), r.loop.Steps(), r.best),
		f.Write(run.LossPicture, r.drawLoss),
	}
	if m, ok := r.model.Network.(run.Watchable); ok {
		errs = append(errs, f.Write(run.AttentionPicture, func(w io.Writer) error { return r.drawWeights(w, m) }))
	}
	errs = append(errs, r.drawWatched())
	return oneline.Join(append(errs, f.Metrics.Close(), f.CheckConfig(r.config), f.CheckPlace())...)
}

func (r *training) onStep(s train.StepResult) {
	r.history.Steps = append(r.history.Steps, s)
	r.folder.Metrics.AddStep(s)
	r.progress.Step(s.Loss)
	r.page.between()
}

func (r *training) onEval(e train.Evaluation) {
	r.history.Evaluations = append(r.history.Evaluations, e)
	r.folder.Metrics.AddEvaluation(e, r.config.EvalBatches)
	r.progress.Clear()
	r.printEvaluation(e)
}

// useBest makes the model that of the lowest validation loss, with --best. Before the first validation there is none.
func (r *training) useBest() error {
	best := r.loop.Best().Step
	if !r.config.Training.KeepBest || best == 0 {
		return nil
	}
	r.best = best
	return r.loop.UseBest()
}

// evaluateWhole evaluates on the whole validation split if the evaluations during training saw only parts of it.
func (r *training) evaluateWhole(ctx context.Context) error {
	if r.config.EvalBatches == 0 {
		return nil
	}
	e, err := r.loop.Evaluate(ctx, r.whole)
	if err != nil {
		return err
	}
	r.last = &e
	if r.processes.lead() {
		r.folder.Metrics.AddEvaluation(e, 0)
	}
	return nil
}
