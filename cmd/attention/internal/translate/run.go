package translate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"

	"attention/cmd/attention/internal/dates"
	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run"
	"attention/cmd/attention/internal/term"
	"attention/internal/oneline"
	"attention/train"
)

// metricsNote is the key of the history's digest among the notes of a checkpoint.
const metricsNote = "metrics"

// translation is one run of attention translate.
type translation struct {
	*dates.Model
	options  options
	training *dates.RandomPairs
	heldOut  *dates.ListedPairs
	loop     *train.Loop
	folder   *run.Folder
	history  run.History
	report   run.Report
	tabled   bool // whether the head of the table of losses is printed
	progress *term.Progress
	out      *term.Output
}

// translateDates runs attention translate.
func translateDates(ctx context.Context, w, notes io.Writer, o options) error {
	command := trainDates
	if o.model != "" {
		command = translateWith
	}
	err := command(ctx, w, notes, o)
	if err != nil {
		err = fmt.Errorf("translate: %w", err)
	}
	if o.model != "" {
		return term.Stopped(ctx, "translate", err)
	}
	return err
}

// trainDates begins or resumes a run.
func trainDates(ctx context.Context, w, notes io.Writer, o options) error {
	var r *translation
	var err error
	if o.resume != "" {
		r, err = resumeTranslation(w, notes, o)
	} else {
		r, err = beginTranslation(w, o)
	}
	if err != nil {
		return err
	}
	return r.run(ctx)
}

// beginTranslation makes the folder of a new run.
func beginTranslation(w io.Writer, o options) (*translation, error) {
	r, err := newTranslation(w, o)
	if err != nil {
		return nil, err
	}
	if r.folder, err = run.NewFolder(o.folder(), checkpoints); err != nil {
		return nil, err
	}
	r.Name = r.folder.Name()
	if err = r.Settings.Write(r.folder); err == nil {
		err = r.folder.BeginMetrics()
	}
	if err == nil {
		err = r.watch()
	}
	if err != nil {
		return nil, oneline.Join(err, r.folder.Close())
	}
	return r, nil
}

// newTranslation prepares a run without touching a file.
func newTranslation(w io.Writer, o options) (*translation, error) {
	m, err := dates.NewModel(o.settings)
	if err != nil {
		return nil, err
	}
	s := o.settings
	r := &translation{Model: m, options: o, out: term.NewOutput(w, "train")}
	training, heldOut := dates.Split(s.Training.Seed)
	random := rand.NewPCG(uint64(s.Training.Seed), 1)
	r.training = dates.NewRandomPairs(training, random, dates.NewBatch(r.Alphabets, s.Batch))
	r.heldOut = &dates.ListedPairs{Pairs: dates.InEveryStyle(heldOut), Out: dates.NewBatch(r.Alphabets, s.Batch)}
	c, err := trainConfig(s)
	if err != nil {
		return nil, err
	}
	c.OnStep, c.OnEval = r.onStep, r.onEval
	c.BeforeSave = func() (map[string]string, error) {
		return map[string]string{metricsNote: r.history.Digest()}, r.folder.Metrics.Flush()
	}
	r.loop, err = train.New(r.Params, r.Loss, c)
	return r, err
}

// run takes the remaining steps, saves the model and translates.
func (r *translation) run(ctx context.Context) error {
	defer r.folder.Close()
	r.loop.SaveTo(r.folder.Checkpoints)
	begin := r.loop.Steps()
	r.progress = term.NewProgress(r.out, r.Settings.Training.Steps-begin)
	kernels := program.MeasureKernels("float32", program.BriefPeak)
	r.printHead(kernels)
	began := program.Now()
	r.report.Text, r.report.Model = "dates "+r.text(), run.DatesModel+", "+r.String()
	r.report.Parameters = r.Params.Count()
	session := run.Session{Begin: began, Command: r.options.command, From: begin,
		Kernels: kernels.Line("float32")}
	if err := r.report.Begin(r.folder, session); err != nil {
		return err
	}
	err := r.loop.Run(ctx, r.training, r.heldOut)
	r.progress.Clear()
	r.Steps = r.loop.Steps()
	r.report.Session().Seconds = program.Since(began).Seconds()
	if err == nil {
		err = oneline.Join(r.writeModel(), r.drawWatched())
	}
	err = oneline.Join(err, r.folder.Metrics.Close())
	if err == nil {
		err = r.translate(ctx)
	}
	if err != nil {
		err = r.explain(ctx, err)
	}
	r.report.Losses = r.history.Losses()
	reported := r.report.End(r.folder, r.Steps, err)
	if err := oneline.Join(err, reported, r.out.Err()); err != nil {
		return err
	}
	r.printFiles()
	return r.out.Err()
}

// writeModel writes the trained model to the run folder.
func (r *translation) writeModel() error {
	about, err := r.Settings.About()
	if err != nil {
		return err
	}
	return r.folder.WriteParams(about, r.Params, r.Steps)
}

// drawnPair is the index of the held-out date in the picture. It has a day of the
// week, which the translation does not need.
const drawnPair = 2

// translate translates the held-out dates and those of --date, and draws the first of the latter, or else one of the
// former.
func (r *translation) translate(ctx context.Context) error {
	t, err := r.NewTranslator()
	if err != nil {
		return err
	}
	began := program.Now()
	got, err := t.TranslateAll(ctx, r.heldOut)
	if err != nil {
		return err
	}
	r.printVerdict(got, program.Since(began))
	drawn := dates.Pair{Written: r.heldOut.Pairs[drawnPair].Written, ISO: got[drawnPair]}
	if len(r.options.dates) > 0 {
		fmt.Fprint(r.out, "\nOf --date:\n\n")
		own, err := translateOwn(ctx, r.Model, r.out, t, r.options.dates)
		if err != nil {
			return err
		}
		drawn = own[0]
	}
	r.report.Session().Sample = &run.Sample{Prompt: drawn.Written, Text: drawn.ISO}
	return writeCross(r.Model, r.out, r.folder, r.options.picture(), drawn)
}

// explain adds to the error of a run how to resume it. An interrupted run that has saved a checkpoint ended properly.
func (r *translation) explain(ctx context.Context, err error) error {
	if moved := r.folder.CheckPlace(); moved != nil { // no path leads to a checkpoint
		return oneline.Join(err, moved)
	}
	newest := r.folder.Newest()
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) && newest == r.folder.Checkpoints.Path(r.loop.Steps()) {
		return term.Interrupted(fmt.Errorf("stopped after %d of %d steps; resume with: %s",
			r.loop.Steps(), r.Settings.Training.Steps, resumeCommand(r.folder.Path)))
	}
	if newest == "" {
		return fmt.Errorf("%w; %s holds no model", err, r.folder.Path)
	}
	return fmt.Errorf("%w; resume from %s with: %s", err, newest, resumeCommand(r.folder.Path))
}

// resumeCommand returns the shell command that resumes a run.
func resumeCommand(path string) string {
	return program.Command("translate", "--resume", path)
}

func (r *translation) onStep(s train.StepResult) {
	r.history.Steps = append(r.history.Steps, s)
	r.folder.Metrics.AddStep(s)
	r.progress.Step(s.Loss)
}

func (r *translation) onEval(e train.Evaluation) {
	r.history.Evaluations = append(r.history.Evaluations, e)
	r.folder.Metrics.AddEvaluation(e, 0)
	r.progress.Clear()
	r.printEvaluation(e)
}
