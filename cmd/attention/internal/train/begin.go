package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"

	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/run"
	"attention/cmd/attention/internal/session"
	"attention/graph"
	"attention/internal/kernel"
	"attention/layers"
	"attention/train/text"

	"github.com/spf13/pflag"
	G "gorgonia.org/gorgonia"
)

// command is attention train in one process.
type command struct {
	session.Processes
	out, notes io.Writer
	flags      *pflag.FlagSet
	page       *page
}

// execute begins or resumes a run. The leading process prints its output and the error, if a process has one.
func (c command) execute(ctx context.Context) error {
	if !c.Leads() {
		c.out, c.notes = io.Discard, io.Discard
	}
	return c.Together(c.train(ctx))
}

func (c command) train(ctx context.Context) error {
	if err := c.Agree(c.listen()); err != nil {
		return err
	}
	if err := c.together(); err != nil {
		return err
	}
	r, err := c.begin()
	if err != nil {
		return err
	}
	return r.run(ctx)
}

// listen checks the flags and listens for --view.
func (c command) listen() error {
	if err := run.CheckFlags(c.flags); err != nil {
		return err
	}
	if c.Size() > 1 && run.Given(c.flags, "text") == run.StandardInput {
		return fmt.Errorf("--text: got %s with %d processes, want a file: only one has the standard input",
			run.StandardInput, c.Size())
	}
	if !c.Leads() {
		return nil
	}
	return c.page.listen(c.flags, c.notes)
}

// together returns an error if the processes do not all begin a run, or all resume one. The leading one decides for all
// whether bfloat16 is worth it.
func (c command) together() error {
	what := "a new run"
	if c.flags.Changed("resume") {
		what = "--resume of a run"
	}
	if err := c.SameTask(what); err != nil {
		return err
	}
	return c.LeadBF16()
}

// begin makes a new run, or restores the run that --resume names. It reports wrong flags and files before it makes the
// run folder.
func (c command) begin() (*training, error) {
	if c.flags.Changed("resume") {
		dir, checkpoint := run.FolderOf(run.Given(c.flags, "resume"))
		r, err := c.oldRun(dir)
		if err := c.Agree(err); err != nil {
			return nil, err
		}
		return r, r.Resume(dir, checkpoint, c.notes)
	}
	r, err := c.newRun()
	if err := c.Agree(err); err != nil {
		return nil, err
	}
	return r, r.Begin(run.Given(c.flags, "out"))
}

// newRun prepares a new run of the flags without making a folder.
func (c command) newRun() (*training, error) {
	settings, err := run.NewSettings(c.flags)
	if err != nil {
		return nil, err
	}
	config, err := settings.Config()
	if err != nil {
		return nil, err
	}
	if n := config.Training.Accumulate; n < c.Size() {
		return nil, fmt.Errorf("--accumulate: got %d with %d processes, want at least %[2]d: "+
			"they share the batches of a step", n, c.Size())
	}
	corpus, err := run.ReadCorpus(config, settings.Tokenizer())
	if err != nil {
		return nil, err
	}
	if config, err = settings.WithText(corpus); err != nil {
		return nil, err
	}
	r, err := c.newTraining(config, corpus)
	if err != nil {
		return nil, err
	}
	r.init = settings.Init()
	return r, nil
}

// oldRun prepares the run of a folder.
func (c command) oldRun(dir string) (*training, error) {
	config, err := run.ReadConfig(dir)
	if err != nil {
		return nil, err
	}
	began := config.Precision
	if err := config.Resume(c.flags); err != nil {
		return nil, err
	}
	if config.Precision == began && began == graph.BFloat16.String() {
		c.keepBF16()
	}
	if n := config.Training.Accumulate; n < c.Size() {
		return nil, fmt.Errorf("--resume: got %d processes for a run with --accumulate %d, want at most %[2]d: "+
			"they share the batches of a step", c.Size(), n)
	}
	tokenizer, err := config.OpenTokenizer(dir)
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	corpus, err := run.ReadCorpus(config, tokenizer)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; if it has moved, give its path with --text", err)
	}
	if err != nil {
		return nil, err
	}
	return c.newTraining(config, corpus)
}

// keepBF16 lets a run that began in bfloat16 resume in it on every processor, and prints what that costs.
func (c command) keepBF16() {
	taken, why := kernel.ChoiceOfBF16()
	if taken {
		return
	}
	if kernel.TakeBF16(); kernel.CheckBF16() == nil { // BF16Variable may be wrong
		fmt.Fprintf(c.notes, "attention: --resume: bf16: %s: the run goes on in it all the same\n", why)
	}
}

// training is a run of attention train: the session of its model and text.
type training struct {
	*session.Session
	config run.Config
	init   *run.Inspection // the folder of the initial weights; nil without one, and until they are read
	corpus *run.Corpus
	model  run.Model
	prompt []int          // of the sample
	clip   *layers.QKClip // nil without --qk-clip
	tabled bool           // whether the head of the table of losses is printed
}

// newTraining prepares a run without touching a file.
func (c command) newTraining(config run.Config, corpus *run.Corpus) (*training, error) {
	r := &training{config: config, corpus: corpus}
	r.config.Kernels = kernel.InstructionSet()
	if err := r.makeModel(); err != nil {
		return nil, err
	}
	p, err := r.plan()
	if err != nil {
		return nil, err
	}
	p.CommandLine = flags.CommandLine("train", c.flags)
	if c.page.server != nil {
		c.page.run, p.Page = r, c.page
	}
	r.Session, err = session.New(c.out, p, c.Processes)
	return r, err
}

// makeModel makes the model, and finds the prompt of its sample.
func (r *training) makeModel() error {
	dt, err := r.config.TensorType()
	if err != nil {
		return err
	}
	precision, err := r.config.ProductPrecision()
	if err != nil {
		return err
	}
	if err := flags.CheckPrecision(precision, dt); err != nil {
		return err
	}
	params := layers.NewParams(dt, r.config.Training.Seed)
	if r.config.Init != nil {
		params = layers.NewBlankParams(dt)
	}
	if r.model, err = r.config.Model.New(params.Scope("")); err != nil {
		return err
	}
	if err := params.Freeze(r.config.Freeze...); err != nil {
		return err
	}
	if err := r.checkHeads(); err != nil {
		return err
	}
	r.prompt, err = r.promptIDs(r.config.Sample.Prompt)
	return err
}

// plan returns what the session trains.
func (r *training) plan() (p session.Plan, err error) {
	c := r.config
	p = session.Plan{
		Command: "train", Config: c, Params: r.model.Params(), Loss: r.loss, Training: c.Training,
		Checkpoints: c.Checkpoints, EvalBatches: c.EvalBatches, Title: r.model.Title(), Drawn: "*",
		Text: c.Text.Name, Model: r.model.String(), Counted: r.counted(),
		Facts:     []string{"text", fmt.Sprintf("%d bytes, SHA-256 %s", c.Text.Bytes, c.Text.SHA256)},
		PrintHead: r.printHead, PrintEvaluation: r.printEvaluation,
		Hints: session.Hints{
			NotFinite:  "a smaller --lr may help",
			StartAgain: func(dir string) string { return "--config " + filepath.Join(dir, run.ConfigFile) },
		},
	}
	if c.Init != nil {
		p.Init = r.readInit
	}
	if t, ok := r.corpus.Tokenizer.(*text.BPETokenizer); ok {
		p.Files = t.Files()
	}
	if p.About, err = c.ModelIdentity(); err != nil {
		return p, err
	}
	if p.Training.About, err = c.Identity(); err != nil {
		return p, err
	}
	if p.Training.Precision, err = c.ProductPrecision(); err != nil {
		return p, err
	}
	p.Training.CheckpointBlocks = c.CheckpointActivations
	if c.QKClip > 0 {
		p.Training.Observe = []string{"*"}
	}
	if p.Source, p.Validation, p.Whole, err = r.corpus.Sources(c.Sources()); err != nil {
		return p, err
	}
	p.Record, err = r.recordConfig()
	return p, err
}

// counted returns the losses of counting tokens.
func (r *training) counted() session.Losses {
	uniform := math.Log(float64(r.corpus.Tokenizer.Len()))
	l := session.Losses{Uniform: &uniform}
	if ngram := r.corpus.NGram; ngram != nil {
		l.Bigram, l.Unigram = &ngram.Bigram, &ngram.Unigram
	}
	return l
}

// loss returns the mean cross-entropy of the next tokens.
func (r *training) loss(b *layers.Build) (*G.Node, error) {
	loss, err := text.TokenLoss(r.model.Loss, r.config.Sources().Windows)(b)
	if err != nil {
		return nil, err
	}
	return loss, r.clipQK(b)
}
