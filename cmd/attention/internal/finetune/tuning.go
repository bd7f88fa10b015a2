package finetune

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"

	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/term"
	"attention/cmd/attention/internal/view/live"
	"attention/internal/config"
	"attention/internal/oneline"
	"attention/internal/simd"
	"attention/layers"
	"attention/train/metrics"
	"attention/train/text"

	"github.com/spf13/pflag"
)

// tuning is a run of attention finetune: the session of its model and examples.
type tuning struct {
	*session.Session
	task
	ctx    context.Context // of the answers at evaluations
	flags  *pflag.FlagSet
	config settings.Config
	files  []*text.Examples // examples to learn from, and held-out ones if there are any
}

// task is the part of a run that depends on what the model learns.
type task interface {
	open(flag string) error // reads the base, which a flag names, and makes batches of the files of examples
	params() *layers.Params // of the base
	epoch() (examples, batches int)
	plan(p *session.Plan, of live.Command) error // sets the loss and the batches
	data() (phrases [][]string)                  // phrases about the examples, and the held-out ones
	rows() string                                // a noun for the examples of a batch, with their length
	unit() string                                // the noun for the items over which a loss is a mean
	measureBase(ctx context.Context) error       // measures the base
	printNow(ctx context.Context) error          // prints the model's results at an evaluation
	printComparison(ctx context.Context) error   // prints the results of the model and of the base
	use() (text, command string)                 // how to use the model
}

// execute begins or resumes a run, or shows examples.
func execute(ctx context.Context, c live.Command) (err error) {
	o := options{Command: c}
	if err := c.Start(o.check); err != nil {
		return err
	}
	r := &tuning{ctx: ctx, flags: c.Flags}
	defer func() { err = oneline.Join(err, r.close()) }()
	if err := c.Agree(o.prepare(r)); err != nil {
		return err
	}
	if o.show > 0 {
		return r.task.(*answering).showLessons(ctx, c.Out, int(o.show))
	}
	p, err := r.planOf(c)
	if err != nil {
		return err
	}
	if r.Session, err = session.New(c.Out, p, c.Processes); err != nil {
		return err
	}
	if err := r.Agree(term.Stopped(ctx, r.measureBase(ctx))); err != nil { // the base, before a checkpoint is read
		return err
	}
	if resume := o.text("resume"); resume == "" {
		err = r.Begin(o.text("out"))
	} else {
		dir, file := models.FolderOf(resume)
		err = r.Resume(dir, file, c.Notes)
	}
	if err != nil {
		return err
	}
	return r.run(ctx)
}

// prepare reads the base and the examples of a run, without touching a file.
func (o *options) prepare(r *tuning) (err error) {
	if !o.Flags.Changed("resume") {
		if r.config, err = o.begin(); err != nil {
			return err
		}
		if err := o.CheckShares(max(r.config.Training.Accumulate, 1), false); err != nil {
			return err
		}
		if err := r.open("--model"); err != nil {
			return err
		}
		if a, ok := r.task.(*answering); ok {
			models.NoteIgnored(o.Notes, r.config.Tuning.Base.Name, a.base.GPT)
		}
		_, batches := r.epoch()
		return o.complete(&r.config, r.config.Model.Width(), batches)
	}
	dir, _ := models.FolderOf(o.text("resume"))
	if r.config, err = session.ResumedConfig(dir, settings.Finetune, o.Flags, o.Notes); err != nil {
		return err
	}
	if err := o.CheckShares(r.config.Training.Accumulate, true); err != nil {
		return err
	}
	if err := o.move(&r.config); err != nil {
		return err
	}
	return r.open("--resume")
}

// move sets the paths of examples that have moved.
func (o *options) move(c *settings.Config) error {
	began := *c
	if c.Tuning.Valid != nil {
		began.Tuning = new(*c.Tuning)
	}
	if err := o.findData(c); err != nil {
		return err
	}
	c.Text.Bytes, c.Text.SHA256 = began.Text.Bytes, began.Text.SHA256
	if v := began.Tuning.Valid; v != nil && c.Tuning.Valid != v {
		c.Tuning.Valid = &settings.TextSource{Name: c.Tuning.Valid.Name, Bytes: v.Bytes, SHA256: v.SHA256}
	}
	return nil
}

// open makes the task of a run whose base is named by a flag.
func (r *tuning) open(flag string) error {
	r.task = &answering{tuning: r}
	if r.config.Tuning.Task != "" {
		r.task = &encoding{tuning: r}
	}
	r.config.Kernels = simd.InstructionSet()
	return r.task.open(flag)
}

// fit checks the config of a run for a base that accepts texts of up to longest tokens.
func (r *tuning) fit(longest, usual int) error {
	c := &r.config
	if c.Tuning.Context == 0 {
		c.Tuning.Context = min(usual, longest)
	}
	wrong := cmp.Or(config.AtLeast(*c, 1, "Batch"), config.In(*c, "Tuning", c.Tuning.Validate()))
	if wrong != nil {
		return c.Named(r.flags, wrong)
	}
	if c.Tuning.Context > longest {
		return fmt.Errorf("--context: got %d, want at most the %d of the model", c.Tuning.Context, longest)
	}
	return nil
}

// openFiles opens the files of a run's examples, which must be the files with which the run began.
func (r *tuning) openFiles() error {
	c := &r.config
	for _, of := range []struct {
		flag   string
		source *settings.TextSource
	}{{"data", &c.Text}, {"valid", c.Tuning.Valid}} {
		if of.source == nil {
			break
		}
		var err error
		if of.source.SHA256 != "" {
			err = of.source.Same()
		}
		var file *text.Examples
		if err == nil {
			file, err = text.OpenExamples(of.source.Name)
		}
		if err != nil {
			return fmt.Errorf("--%s: %w", of.flag, err)
		}
		r.files = append(r.files, file)
	}
	return nil
}

// close closes the files.
func (r *tuning) close() (err error) {
	for _, f := range r.files {
		err = oneline.Join(err, f.Close())
	}
	return err
}

// planOf returns what the session trains.
func (r *tuning) planOf(of live.Command) (p session.Plan, err error) {
	c := r.config
	if p, err = session.PlanOf("finetune", c, r.params()); err != nil {
		return p, err
	}
	p.CommandLine = flags.CommandLine("finetune", of.Flags)
	p.Model += r.adapters()
	p.PrintHead, p.PrintEvaluation, p.PrintTimeLeft, p.End = r.printHead, r.printEvaluation, true, r.end
	p.Table = term.Table{Form: "%6d  %13.4f  %13.4f  %8.0f",
		Names: []any{"step", "training loss", "held-out loss", "tokens/s"},
		Title: fmt.Sprintf("losses in nats a %s; the training loss is the mean of the last %d steps\n", r.unit(),
			metrics.RecentSteps)}
	p.Facts = []string{"base", c.Tuning.Base.SHA256, "data", c.Text.SHA256}
	return p, r.plan(&p, of)
}

// run makes the remaining steps and writes the result to the folder.
func (r *tuning) run(ctx context.Context) error {
	defer debug.SetGCPercent(debug.SetGCPercent(garbage)) // so that memory stays within the printed amount
	return r.Run(ctx, func(error) (saved, shown error) {
		if saved = r.Save(); saved == nil {
			r.printSummary()
			shown = r.printComparison(ctx)
		}
		if shown != nil && ctx.Err() != nil {
			shown = term.Interrupted(fmt.Errorf("interrupted before the last answers; %s holds the model", r.Folder.Path))
		}
		return saved, shown
	})
}
