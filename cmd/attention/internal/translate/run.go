package translate

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"

	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/term"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"
	"attention/train/tasks/dates"
)

// translation is a run of attention translate: the session of its model and dates.
type translation struct {
	*session.Session
	model    *dates.Model
	options  options
	training *dates.RandomPairs
	heldOut  *dates.ListedPairs
}

// execute translates with the model of a run, or begins or resumes a run.
func (o options) execute(ctx context.Context, w, notes io.Writer) error {
	if err := o.read(); err != nil {
		return err
	}
	noteNoDates(notes, o.pairs)
	if o.text("model") != "" {
		return term.Stopped(ctx, translateWith(ctx, w, notes, o))
	}
	r, err := o.begin(w, notes)
	if err != nil {
		return err
	}
	return r.Run(ctx, func(error) (failed, _ error) {
		if failed = r.finish(ctx); failed != nil {
			failed = r.Explain(ctx, failed)
		}
		return failed, nil
	})
}

// begin returns a new run, or the run of --resume.
func (o options) begin(w, notes io.Writer) (*translation, error) {
	if o.text("resume") == "" {
		r, err := newTranslation(w, o)
		if err != nil {
			return nil, err
		}
		return r, r.Begin(o.text("out"))
	}
	dir, checkpoint := models.FolderOf(o.text("resume"))
	var err error
	if o.Config, err = session.ResumedConfig(dir, settings.Translate, o.flags, notes); err != nil {
		return nil, err
	}
	r, err := newTranslation(w, o)
	if err != nil {
		return nil, err
	}
	return r, r.Resume(dir, checkpoint, notes)
}

// newTranslation prepares a run without touching a file.
func newTranslation(w io.Writer, o options) (*translation, error) {
	m, err := o.NewDates()
	if err != nil {
		return nil, err
	}
	r := &translation{model: m, options: o}
	training, heldOut := dates.Split(o.Training.Seed)
	random := rand.NewPCG(uint64(o.Training.Seed), 1)
	r.training = dates.NewRandomPairs(training, random, dates.NewBatch(m.Alphabets, o.Batch))
	r.heldOut = &dates.ListedPairs{Pairs: dates.InEveryStyle(heldOut), Out: dates.NewBatch(m.Alphabets, o.Batch)}
	p, err := r.plan()
	if err != nil {
		return nil, err
	}
	r.Session, err = session.New(w, p, session.Processes{})
	return r, err
}

// plan returns what the session trains.
func (r *translation) plan() (session.Plan, error) {
	m, c := r.model, r.options.Config
	about, err := c.Identity()
	if err != nil {
		return session.Plan{}, err
	}
	recorded, err := r.recordConfig()
	return session.Plan{
		Command: settings.Translate, CommandLine: flags.CommandLine(settings.Translate, r.options.flags), Config: c,
		About: about, Params: m.Params(), Loss: m.Loss, Training: trainConfig(c, about), Checkpoints: checkpoints,
		Source: r.training, Validation: r.heldOut, Record: recorded, Title: c.Model.Title(),
		Drawn: dates.CrossAttention, Text: "dates " + r.text(), Model: c.Model.String(),
		PrintHead: r.printHead, PrintEvaluation: r.printEvaluation, End: r.end,
		Table: term.Table{Form: "%6d  %8.4f  %8.4f", Names: []any{"step", "training", "held out"}},
	}, err
}

// drawnPair is the index of the held-out date in the picture. That date has a day of the week, which is not needed for
// the translation.
const drawnPair = 2

// finish saves the model, and translates the held-out dates and the dates of --date. It draws the first date of --date,
// or else a held-out date.
func (r *translation) finish(ctx context.Context) error {
	if err := r.Save(); err != nil {
		return err
	}
	t, err := r.model.NewTranslator()
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
	if len(r.options.pairs) > 0 {
		fmt.Fprint(r.Out, "\nOf --date:\n\n")
		own, err := translateOwn(ctx, r.Out, t, r.options.Batch, r.options.pairs)
		if err != nil {
			return err
		}
		drawn = own[0]
	}
	r.Report.Session().Sample = &session.Sample{Prompt: drawn.Written, Text: drawn.ISO}
	of := fmt.Sprintf("step %d, run %s", r.Loop.Steps(), models.Name(r.Folder.Path))
	return writeCross(r.model, r.Out, of, r.Folder, r.options.text("picture"), drawn)
}

// Settings without a flag.
const (
	peakRate  = 0.003
	warmup    = 100 // steps
	evalSteps = 100 // between two evaluations
)

// checkpoints sets when a run saves.
var checkpoints = checkpoint.Config{Every: evalSteps, Keep: 2}

// trainConfig returns the config of the steps of a run.
func trainConfig(c settings.Config, about map[string]string) loop.Config {
	return loop.Config{
		Steps: c.Training.Steps, EvalEvery: evalSteps, About: about,
		StepConfig: train.StepConfig{
			Solver: train.SolverConfig{Name: train.AdamW, Beta2: 0.99},
			Schedule: train.ScheduleConfig{
				Schedule: train.CosineLR{Peak: peakRate, WarmupSteps: min(warmup, c.Training.Steps/4),
					Steps: c.Training.Steps}},
			ClipNorm: 1, Seed: c.Training.Seed,
		},
	}
}
