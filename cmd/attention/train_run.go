package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"time"

	"attention/graph"
	"attention/layers"
	"attention/train"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// trainRun is one run of attention train, or what is left of one.
type trainRun struct {
	config     runConfig
	corpus     *corpus
	params     *layers.Params
	model      textModel
	training   train.Resumable
	validation train.Source // of the evaluations on the way
	whole      train.Source // all of the validation split
	prompt     []int        // that the sample continues
	loop       *train.Loop
	folder     *runFolder
	begin      int // steps that were taken before, by another process
	history    history
	last       *train.Evaluation // of the whole validation split, where history has only parts; nil if there is none
	tabled     bool              // whether the table of losses has its head
	progress   *progress
	out        *output
}

// output keeps the first error of its writer, so that whoever prints need not look.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if o.err == nil && err != nil {
		o.err = fmt.Errorf("train: printing: %w", err)
	}
	return n, err
}

// runTrain goes from flags to a run folder. What is wrong with the flags or the files
// they name is found before the folder is made.
func runTrain(ctx context.Context, w io.Writer, o trainOptions) error {
	c, err := o.readCorpus()
	if err != nil {
		return err
	}
	if err := o.checkSizes(o.vocabularyOf(c)); err != nil {
		return err
	}
	config := o.runConfig(c)
	if config.Init, err = initSource(o.init, o.initSum); err != nil {
		return err
	}
	r, err := newTrainRun(w, config, c)
	if err != nil {
		return err
	}
	if err := r.readInit(); err != nil {
		return err
	}
	if r.folder, err = newRunFolder(o.out, config.Checkpoints); err != nil {
		return err
	}
	err = r.config.write(r.folder)
	if err == nil {
		r.folder.metrics, err = newMetrics(r.folder.path)
	}
	if err != nil {
		return errors.Join(err, r.folder.close())
	}
	return r.run(ctx)
}

// newTrainRun prepares a run without touching a file.
func newTrainRun(w io.Writer, config runConfig, c *corpus) (*trainRun, error) {
	dt, err := dtypeOf(config.Dtype)
	if err != nil {
		return nil, err
	}
	r := &trainRun{config: config, corpus: c, params: layers.NewParams(dt, config.Training.Seed), out: &output{Writer: w}}
	if config.Init != nil {
		r.params = layers.NewBlankParams(dt)
	}
	if r.model, err = config.Model.new(r.params.Scope("")); err != nil {
		return nil, err
	}
	if r.prompt, err = r.promptIDs(config.Sample.Prompt); err != nil {
		return nil, err
	}
	if r.training, r.whole, err = c.sources(config, !r.model.causal()); err != nil {
		return nil, err
	}
	if r.validation, err = c.sampled(config, !r.model.causal(), r.whole); err != nil {
		return nil, err
	}
	training := config.Training
	training.OnStep, training.OnEval = r.onStep, r.onEval
	training.BeforeSave = func() error { return r.folder.metrics.flush() }
	if training.About, err = config.about(); err != nil {
		return nil, err
	}
	r.loop, err = train.New(r.params, r.loss, training)
	return r, err
}

// run takes the steps that are left and leaves their outcome in the folder.
func (r *trainRun) run(ctx context.Context) error {
	defer r.folder.checkpoints.Close()
	r.loop.SaveTo(r.folder.checkpoints)
	r.begin = r.loop.Steps()
	r.progress = newProgress(r.out.Writer, r.config.Training.Steps-r.begin)
	r.printHead()
	before, began := r.snapshot(), time.Now()
	err := r.loop.Run(ctx, r.training, r.validation)
	if err == nil {
		err = r.evaluateWhole(ctx)
	}
	r.progress.clear()
	if err != nil {
		err = r.explain(ctx, err)
		if !errors.As(err, &interrupted{}) || r.loop.Steps() == 0 { // no model to leave
			return errors.Join(err, r.folder.metrics.close(), r.out.err)
		}
	}
	r.printVerdict(r.loop.Steps()-r.begin, time.Since(began))
	r.printUpdates(before)
	if saveErr := r.save(); saveErr != nil || err != nil {
		return errors.Join(err, saveErr)
	}
	if err := r.printSample(ctx); err != nil {
		return err
	}
	picture := ""
	if _, ok := r.model.(watchable); ok {
		picture = " attention.png,"
	}
	fmt.Fprintf(r.out, "\nIn %s: model.safetensors, config.json, metrics.jsonl, loss.png,%s checkpoints\n", r.folder.path, picture)
	return r.out.err
}

// save writes the model and the pictures. It tries each file, whatever the others
// give.
func (r *trainRun) save() error {
	f := r.folder
	err := errors.Join(
		train.WriteParams(filepath.Join(f.path, modelName), r.params, map[string]string{stepsKey: strconv.Itoa(r.loop.Steps())}),
		f.write("loss.png", r.drawLoss),
	)
	if m, ok := r.model.(watchable); ok {
		err = errors.Join(err, f.write("attention.png", func(w io.Writer) error { return r.drawWeights(w, m) }))
	}
	return errors.Join(err, f.metrics.close())
}

func (r *trainRun) onStep(s train.Step) {
	r.history.steps = append(r.history.steps, s)
	r.folder.metrics.addStep(s)
	r.progress.step(s)
}

func (r *trainRun) onEval(e train.Evaluation) {
	r.history.evaluations = append(r.history.evaluations, e)
	r.folder.metrics.addEvaluation(e, r.config.EvalBatches)
	r.progress.clear()
	r.printEvaluation(e)
}

// evaluateWhole evaluates on all of the validation split what the evaluations on the
// way saw parts of.
func (r *trainRun) evaluateWhole(ctx context.Context) error {
	if r.config.EvalBatches == 0 {
		return nil
	}
	e, err := r.loop.Evaluate(ctx, r.whole)
	if err != nil {
		return err
	}
	r.last = &e
	r.folder.metrics.addEvaluation(e, 0)
	return nil
}

// loss is the mean cross-entropy of the next tokens.
func (r *trainRun) loss(b *layers.Build) (*G.Node, error) {
	inputs, err := b.InputOf(tensor.Int, text.Inputs, r.config.Batch, r.model.context()), b.Err()
	if err != nil {
		return nil, err
	}
	targets, err := b.InputOf(tensor.Int, text.Targets, r.config.Batch, r.model.context()), b.Err()
	if err != nil {
		return nil, err
	}
	logits, err := r.model.forward(b, inputs)
	if err != nil {
		return nil, err
	}
	return graph.CrossEntropy(logits, targets)
}
