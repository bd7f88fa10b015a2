package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"attention/graph"
	"attention/layers"
	"attention/train"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// trainRun is one run of attention train.
type trainRun struct {
	options  trainOptions
	corpus   *corpus
	config   layers.LanguageModelConfig
	params   *layers.Params
	model    *layers.LanguageModel
	prompt   []int // of the sample
	training train.Config
	history  history
	folder   *runFolder
	progress *progress
	out      *output
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

// runTrain goes from flags to a run folder. What is wrong with the flags or the text
// is found before the folder is made.
func runTrain(ctx context.Context, w io.Writer, o trainOptions) error {
	r, err := newTrainRun(w, o)
	if err != nil {
		return err
	}
	loop, err := train.New(r.params, r.loss, r.training)
	if err != nil {
		return err
	}
	training, validation, err := r.corpus.sources(o, !o.causal())
	if err != nil {
		return err
	}
	if r.folder, err = newRunFolder(o.out); err != nil {
		return err
	}
	if err := r.writeConfig(); err != nil {
		return err
	}
	r.printHead()
	before, began := snapshot(r.params), time.Now()
	err = loop.Run(ctx, training, validation)
	r.progress.clear()
	interrupted := ctx.Err() != nil && errors.Is(err, ctx.Err())
	if err != nil && (!interrupted || loop.Steps() == 0) {
		return errors.Join(r.explain(err), r.folder.close(), r.out.err)
	}
	r.printVerdict(loop.Steps(), time.Since(began))
	r.printUpdates(before)
	if err := r.save(); err != nil {
		return err
	}
	if interrupted {
		return fmt.Errorf("train: stopped after %d of %d steps; %s holds what it learnt", loop.Steps(), o.steps, r.folder.path)
	}
	if err := r.printSample(ctx); err != nil {
		return err
	}
	fmt.Fprintf(r.out, "\nIn %s: model.safetensors, config.json, metrics.jsonl, loss.png, attention.png\n", r.folder.path)
	return r.out.err
}

// explain adds to the error of a run what it left behind and what may help.
func (r *trainRun) explain(err error) error {
	if errors.Is(err, train.ErrNotFinite) {
		err = fmt.Errorf("%w; a smaller --lr may help", err)
	}
	return fmt.Errorf("%w; %s holds no model", err, r.folder.path)
}

// newTrainRun prepares a run without touching a file but the text.
func newTrainRun(w io.Writer, o trainOptions) (*trainRun, error) {
	dt, err := dtypeOf(o.dtype)
	if err != nil {
		return nil, err
	}
	r := &trainRun{options: o, params: layers.NewParams(dt, o.seed), progress: newProgress(w, o.steps), out: &output{Writer: w}}
	r.training = o.loopConfig()
	r.training.OnStep, r.training.OnEval = r.onStep, r.onEval
	if r.corpus, err = readCorpus(o.text, o.context); err != nil {
		return nil, err
	}
	if r.prompt, err = r.promptIDs(); err != nil {
		return nil, err
	}
	if err := o.checkSizes(r.corpus.vocabulary.Len()); err != nil {
		return nil, err
	}
	r.config = o.modelConfig(r.corpus.vocabulary.Len())
	r.model, err = layers.NewLanguageModel(r.params.Scope(""), r.config)
	return r, err
}

func (r *trainRun) onStep(s train.Step) {
	r.history.steps = append(r.history.steps, s)
	r.folder.addStep(s)
	r.progress.step(s)
}

func (r *trainRun) onEval(e train.Evaluation) {
	r.history.evaluations = append(r.history.evaluations, e)
	r.folder.addEvaluation(e)
	r.progress.clear()
	r.printEvaluation(e)
}

// loss is the mean cross-entropy of the next characters.
func (r *trainRun) loss(b *layers.Build) (*G.Node, error) {
	inputs, err := b.Input(train.Inputs, tensor.Int, r.options.batch, r.options.context)
	if err != nil {
		return nil, err
	}
	targets, err := b.Input(train.Targets, tensor.Int, r.options.batch, r.options.context)
	if err != nil {
		return nil, err
	}
	logits, err := r.model.Forward(b, inputs)
	if err != nil {
		return nil, err
	}
	return graph.CrossEntropy(logits, targets)
}
