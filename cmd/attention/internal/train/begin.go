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
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/view/live"
	"attention/internal/simd"
	"attention/layers"
	"attention/train/text"
)

// command is attention train in one process.
type command struct{ live.Command }

// execute begins or resumes a run.
func execute(ctx context.Context, of live.Command) error {
	c := command{of}
	if err := c.Start(c.check); err != nil {
		return err
	}
	r, err := c.begin()
	if err != nil {
		return err
	}
	return r.run(ctx)
}

// check returns an error for wrong flags.
func (c command) check() error {
	if err := settings.CheckFlags(c.Flags, settings.Train); err != nil {
		return err
	}
	if c.Size() > 1 && settings.Given(c.Flags, "text") == settings.StandardInput {
		return fmt.Errorf("--text: got %s with %d processes, want a file: only one has the standard input",
			settings.StandardInput, c.Size())
	}
	return nil
}

// begin makes a new run, or restores the run that --resume names. It reports wrong flags and files before it creates
// the run folder.
func (c command) begin() (*training, error) {
	if c.Flags.Changed("resume") {
		dir, checkpoint := models.FolderOf(settings.Given(c.Flags, "resume"))
		r, err := c.oldRun(dir)
		if err := c.Agree(err); err != nil {
			return nil, err
		}
		return r, r.Resume(dir, checkpoint, c.Notes)
	}
	r, err := c.newRun()
	if err := c.Agree(err); err != nil {
		return nil, err
	}
	return r, r.Begin(settings.Given(c.Flags, "out"))
}

// newRun prepares a new run of the flags without making a folder.
func (c command) newRun() (*training, error) {
	var init *models.Inspection
	given, err := settings.New(c.Flags, func(dir string) (of settings.Spec, err error) {
		if init, err = models.Inspect(dir); err != nil {
			return of, err
		}
		return init.Spec()
	})
	if err != nil {
		return nil, err
	}
	config, err := given.Config()
	if err != nil {
		return nil, err
	}
	if err := c.CheckShares(config.Training.Accumulate, false); err != nil {
		return nil, err
	}
	corpus, err := settings.ReadCorpus(config, given.Tokenizer())
	if err != nil {
		return nil, err
	}
	if config, err = given.WithText(corpus); err != nil {
		return nil, err
	}
	r, err := c.newTraining(config, corpus)
	if err != nil {
		return nil, err
	}
	r.init = init
	return r, nil
}

// oldRun prepares the run of a folder.
func (c command) oldRun(dir string) (*training, error) {
	config, err := session.ResumedConfig(dir, settings.Train, c.Flags, c.Notes)
	if err != nil {
		return nil, err
	}
	if err := c.CheckShares(config.Training.Accumulate, true); err != nil {
		return nil, err
	}
	tokenizer, err := config.OpenTokenizer(dir)
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	corpus, err := settings.ReadCorpus(config, tokenizer)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; if it has moved, give its path with --text", err)
	}
	if err != nil {
		return nil, err
	}
	return c.newTraining(config, corpus)
}

// training is a run of attention train: the session of its model and text.
type training struct {
	*session.Session
	config settings.Config
	init   *models.Inspection // the folder of the initial weights; nil if there is none, and until the weights are read
	corpus *settings.Corpus
	model  settings.Model
	prompt []int // of the sample
	notes  io.Writer
}

// newTraining prepares a run without touching a file.
func (c command) newTraining(config settings.Config, corpus *settings.Corpus) (*training, error) {
	r := &training{config: config, corpus: corpus, notes: c.Notes}
	r.config.Kernels = simd.InstructionSet()
	if err := r.makeModel(); err != nil {
		return nil, err
	}
	p, err := r.plan()
	if err != nil {
		return nil, err
	}
	p.CommandLine = flags.CommandLine("train", c.Flags)
	p.Page = c.Page.Of(live.Shown{Model: r.model, Tokenizer: corpus.Tokenizer, Prompt: r.prompt,
		Copy: func() (*models.OpenModel, error) { return models.Copy(r.config, r.model.Params(), corpus.Tokenizer) }})
	r.Session, err = session.New(c.Out, p, c.Processes)
	return r, err
}

// makeModel makes the model and chooses the prompt of its sample.
func (r *training) makeModel() error {
	dt, err := r.config.TensorType()
	if err != nil {
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
	if p, err = session.PlanOf("train", c, r.model.Params()); err != nil {
		return p, err
	}
	p.Loss, p.Counted = text.TokenLoss(r.model.Loss), r.counted()
	p.PrintHead, p.PrintEvaluation, p.Table = r.printHead, r.printEvaluation, r.lossTable()
	p.End, p.KeepsStopped = r.end, true
	p.Facts = []string{"text", fmt.Sprintf("%d bytes, SHA-256 %s", c.Text.Bytes, c.Text.SHA256)}
	p.Hints.StartAgain = func(dir string) string { return "--config " + filepath.Join(dir, settings.ConfigFile) }
	if c.Init != nil {
		p.Init = r.readInit
	}
	if t, ok := r.corpus.Tokenizer.(*text.SubwordTokenizer); ok {
		p.Files = t.Files()
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
