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
	"attention/layers/generate"
	"attention/train/text"

	"github.com/spf13/pflag"
)

// tuning is a run of attention finetune: the session of its model and examples.
type tuning struct {
	*session.Session
	ctx      context.Context // of the answers at evaluations
	flags    *pflag.FlagSet
	config   settings.Config
	base     *models.Base
	model    settings.Model
	examples examples
	prompts  []prompt
	answers  *generate.Generator // of the prompts; nil without them
	tabled   bool                // whether the head of the table of losses is printed
}

// execute begins or resumes a run, or shows examples.
func execute(ctx context.Context, c live.Command) (err error) {
	o := options{Command: c}
	if err := c.Start(o.check); err != nil {
		return err
	}
	r := &tuning{ctx: ctx, flags: c.Flags}
	defer func() { err = oneline.Join(err, r.examples.close()) }()
	if err := c.Agree(o.prepare(r)); err != nil {
		return err
	}
	if o.show > 0 {
		return r.examples.showLessons(ctx, c.Out, r.base.Tokenizer, int(o.show))
	}
	p, err := r.plan(c)
	if err != nil {
		return err
	}
	if r.Session, err = session.New(c.Out, p, c.Processes); err != nil {
		return err
	}
	if err := r.Agree(term.Stopped(ctx, r.answerByBase(ctx))); err != nil { // the base, before a checkpoint is read
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
		models.NoteIgnored(o.Notes, r.config.Tuning.Base.Name, r.base.GPT)
		width := r.base.Model.Config().Blocks[0].Attention.EmbedDim
		return o.complete(&r.config, width, r.examples.training.Summary().Batches)
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

// open reads the base, which a flag names, and the examples.
func (r *tuning) open(flag string) (err error) {
	c := &r.config
	if r.base, err = models.OpenBase(*c); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	talks, err := r.examples.openFiles(c)
	if err != nil {
		return err
	}
	if r.base.Template == nil && talks && c.Tuning.Classes == nil {
		c.Tuning.Template = text.Alpaca
		if r.base.Ends, r.base.Template, err = models.OpenTemplate(c.Tuning, r.base.GPT); err != nil {
			return err
		}
	}
	r.model = settings.NewDecoder(r.base.Model)
	c.Model, c.Vocabulary, c.Dtype = r.model.ModelConfig, r.base.Tokenizer.Config(), r.base.Dtype().String()
	c.Kernels = simd.InstructionSet()
	fit := c.Tuning.Context == 0
	if fit {
		c.Tuning.Context = min(longestRow, r.model.Context())
	}
	wrong := cmp.Or(config.AtLeast(*c, 1, "Batch"), config.In(*c, "Tuning", c.Tuning.Validate()))
	if wrong != nil {
		return c.Named(r.flags, wrong)
	}
	if n := r.model.Context(); c.Tuning.Context > n {
		return fmt.Errorf("--context: got %d, want at most the %d of the model", c.Tuning.Context, n)
	}
	if err := r.examples.open(r.ctx, c, r.base, fit); err != nil || c.Sample.Tokens == 0 {
		return err
	}
	r.prompts, err = r.examples.prompts(r.ctx, r.base, shownAnswers)
	return err
}

// longestRow is the most tokens of a row by default.
const longestRow = 512

// shownAnswers is how many answers are shown.
const shownAnswers = 2

// plan returns what the session trains.
func (r *tuning) plan(of live.Command) (p session.Plan, err error) {
	c := r.config
	if p, err = session.PlanOf("finetune", c, r.model); err != nil {
		return p, err
	}
	p.CommandLine = flags.CommandLine("finetune", of.Flags)
	p.Model += r.adapters()
	p.Loss, p.Source = text.PackedLoss(r.base.Model.PackedLoss), r.examples.training
	if c := r.base.Classifier; c != nil {
		p.Loss = text.PackedLoss(c.PackedLoss)
	}
	p.Training.BatchTokens = c.Batch * c.Tuning.Context
	if v := r.examples.valid; v != nil {
		p.Validation = v
	}
	p.PrintHead, p.PrintEvaluation, p.PrintTimeLeft = r.printHead, r.printEvaluation, true
	p.Facts = []string{"base", c.Tuning.Base.SHA256, "data", c.Text.SHA256}
	first, err := r.examples.first(r.ctx)
	p.Page = of.Page.Of(live.Shown{Model: r.model, Tokenizer: r.base.Tokenizer, Prompt: first,
		Copy: func() (*models.OpenModel, error) { return models.CopyBase(c, r.base) }})
	return p, err
}

// run takes the remaining steps and writes the result to the folder.
func (r *tuning) run(ctx context.Context) (err error) {
	if r.Leads() {
		defer r.Folder.Close()
	}
	defer debug.SetGCPercent(debug.SetGCPercent(garbage)) // so that memory stays within what is printed
	if !r.Leads() {
		return r.Train(ctx)
	}
	if err := r.Train(ctx); err != nil {
		return r.Fail(err)
	}
	var shown error
	if err = r.Save(); err == nil {
		r.printSummary()
		if shown = cmp.Or(r.printComparison(ctx), r.printConfusion(ctx)); shown != nil && ctx.Err() != nil {
			shown = term.Interrupted(fmt.Errorf("interrupted before the last answers; %s holds the model", r.Folder.Path))
		}
	}
	if err := oneline.Join(err, shown, r.End(err), r.Out.Err()); err != nil {
		return err
	}
	r.PrintTraffic()
	r.printFiles()
	return r.Out.Err()
}
