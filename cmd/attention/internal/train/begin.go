package train

import (
	"context"
	"io"

	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/run"
	"attention/cmd/attention/internal/term"
	"attention/internal/oneline"
	"attention/layers"
	"attention/train"
	"attention/train/text"

	"github.com/spf13/pflag"
	G "gorgonia.org/gorgonia"
)

// beginRun trains a new run. It reports wrong flags and files before it makes the run folder.
func beginRun(ctx context.Context, w io.Writer, flags *pflag.FlagSet, p *processes, page *page) error {
	r, err := newRun(w, flags, p)
	if err := p.agree(err); err != nil {
		return err
	}
	if err := r.checkAlike(); err != nil {
		return err
	}
	r.command, r.page = run.CommandLine("train", flags), page
	if p.lead() {
		err = r.makeFolder(run.Given(flags, "out"))
	}
	if err := p.agree(err); err != nil {
		return err
	}
	return r.run(ctx)
}

// newRun prepares a new run of the flags without making a folder.
func newRun(w io.Writer, flags *pflag.FlagSet, p *processes) (*training, error) {
	settings, err := run.NewSettings(flags)
	if err != nil {
		return nil, err
	}
	config, err := settings.Config()
	if err == nil {
		err = p.checkShares(config, false)
	}
	if err != nil {
		return nil, err
	}
	c, err := run.ReadCorpus(config)
	if err != nil {
		return nil, err
	}
	if config, err = settings.WithText(c); err != nil {
		return nil, err
	}
	r, err := newTraining(w, config, c, p)
	if err != nil {
		return nil, err
	}
	return r, r.readInit()
}

// makeFolder makes the folder of a new run.
func (r *training) makeFolder(path string) (err error) {
	if r.folder, err = run.NewFolder(path, r.config.Checkpoints); err != nil {
		return err
	}
	err = r.config.Write(r.folder)
	if err == nil {
		err = r.folder.BeginMetrics()
	}
	if err == nil {
		err = r.watch()
	}
	if err != nil {
		return oneline.Join(err, r.folder.Close())
	}
	return nil
}

// metricsNote is the key of the history's digest among the notes of a checkpoint.
const metricsNote = "metrics"

// newTraining prepares a run without touching a file.
func newTraining(w io.Writer, config run.Config, c *run.Corpus, p *processes) (*training, error) {
	dt, err := config.TensorType()
	if err != nil {
		return nil, err
	}
	r := &training{config: config, corpus: c, processes: p, out: term.NewOutput(w, "train")}
	if r.precision, err = config.ProductPrecision(); err != nil {
		return nil, err
	}
	if err := flags.CheckPrecision(r.precision, dt); err != nil {
		return nil, err
	}
	params := layers.NewParams(dt, config.Training.Seed)
	if config.Init != nil {
		params = layers.NewBlankParams(dt)
	}
	if r.model, err = config.Model.New(params.Scope("")); err != nil {
		return nil, err
	}
	if err := params.Freeze(config.Freeze...); err != nil {
		return nil, err
	}
	if err := r.checkHeads(); err != nil {
		return nil, err
	}
	if r.prompt, err = r.promptIDs(config.Sample.Prompt); err != nil {
		return nil, err
	}
	if r.training, r.validation, r.whole, err = c.Sources(config); err != nil {
		return nil, err
	}
	training := config.Training
	training.Group = p.group()
	if p.lead() {
		training.OnStep, training.OnEval = r.onStep, r.onEval
	}
	training.BeforeSave = func() (map[string]string, error) {
		return map[string]string{metricsNote: r.history.Digest()}, r.folder.Metrics.Flush()
	}
	if training.About, err = config.About(); err != nil {
		return nil, err
	}
	r.loop, err = train.New(params, r.loss, training)
	return r, err
}

// loss returns the mean cross-entropy of the next tokens.
func (r *training) loss(b *layers.Build) (*G.Node, error) {
	b.SetPrecision(r.precision)
	if r.config.QKClip > 0 {
		b.Observe("*")
	}
	if r.config.CheckpointActivations {
		b.CheckpointBlocks()
	}
	loss, err := text.TokenLoss(r.model.Loss, r.config.Windows())(b)
	if err == nil {
		err = r.clipQK(b)
	}
	return loss, err
}
