package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"attention/graph"
	"attention/layers"
	"attention/train"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

//go:embed text/attention.txt
var builtinText string

// corpus is a text made ready to learn from.
type corpus struct {
	source               textSource
	vocabulary           *train.Vocabulary
	training, validation []int
	ngram                train.NGram
}

// textSource says which text a run learnt from.
type textSource struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// readCorpus reads the file, or the built-in text if there is none.
func readCorpus(path string, context int) (*corpus, error) {
	text, name := builtinText, "built-in"
	if path != "" {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("--text: %w", err)
		}
		text, name = string(raw), path
	}
	sum := sha256.Sum256([]byte(text))
	c := &corpus{source: textSource{Name: name, Bytes: len(text), SHA256: hex.EncodeToString(sum[:])}}
	fail := func(err error) (*corpus, error) { return nil, fmt.Errorf("text %s: %w", name, err) }
	var err error
	if c.vocabulary, err = train.NewVocabulary(text); err != nil {
		return fail(err)
	}
	ids, err := c.vocabulary.Encode(text)
	if err != nil {
		return fail(err)
	}
	if c.training, c.validation, err = train.Split(ids, context); err != nil {
		return fail(err)
	}
	if c.ngram, err = train.NewNGram(c.training, c.validation, c.vocabulary.Len()); err != nil {
		return fail(err)
	}
	return c, nil
}

// trainRun is one run of attention train, from flags to run folder.
type trainRun struct {
	options trainOptions
	corpus  *corpus
	config  layers.LanguageModelConfig
	loop    train.Config
	params  *layers.Params
	model   *layers.LanguageModel
	prompt  []int // of the sample
	history history
	folder  *runFolder
}

func runTrain(ctx context.Context, w io.Writer, o trainOptions) error {
	r, err := newTrainRun(o)
	if err != nil {
		return err
	}
	progress := newProgress(w, o.steps)
	r.loop.OnStep = func(s train.Step) {
		r.history.steps = append(r.history.steps, s)
		r.folder.addStep(s)
		progress.step(s)
	}
	r.loop.OnEval = func(e train.Evaluation) {
		r.history.evaluations = append(r.history.evaluations, e)
		r.folder.addEvaluation(e)
		progress.evaluation(e, r.history, r.corpus.ngram)
	}
	loop, err := train.New(r.params, r.loss, r.loop)
	if err != nil {
		return err
	}
	windows, validation, err := r.sources()
	if err != nil {
		return err
	}
	if r.folder, err = newRunFolder(o.out); err != nil {
		return err
	}
	if err := r.writeConfig(); err != nil {
		return err
	}
	r.printHead(w)
	before := snapshot(r.params)
	stopped := loop.Run(ctx, windows, validation)
	progress.finish()
	if stopped != nil && (!errors.Is(stopped, context.Canceled) || loop.Steps() == 0) {
		return stopped
	}
	// A run that a person stopped keeps what it has learnt.
	return errors.Join(r.finish(w, before), stopped)
}

// finish shows and saves what was learnt.
func (r *trainRun) finish(w io.Writer, before map[string]*tensor.Dense) error {
	if err := printUpdates(w, before, r.params); err != nil {
		return err
	}
	if err := r.printSample(w); err != nil {
		return err
	}
	return r.save(w)
}

// sources are the batches to train on and those to validate on.
func (r *trainRun) sources() (*train.Windows, *train.Sequential, error) {
	o, lastOnly := r.options, r.lastOnly()
	windows, err := train.NewWindows(r.corpus.training, train.WindowsConfig{
		Batch: o.batch, Context: o.context, Seed: uint64(o.seed), LastOnly: lastOnly})
	if err != nil {
		return nil, nil, err
	}
	validation, err := train.NewSequential(r.corpus.validation, train.SequentialConfig{
		Batch: o.batch, Context: o.context, LastOnly: lastOnly})
	return windows, validation, err
}

func newTrainRun(o trainOptions) (*trainRun, error) {
	dt, err := dtypeOf(o.dtype)
	if err != nil {
		return nil, err
	}
	r := &trainRun{options: o, loop: o.loopConfig(), params: layers.NewParams(dt, o.seed)}
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := r.loop.Validate(); err != nil {
		return nil, err
	}
	if o.context < 1 {
		return nil, fmt.Errorf("--context: got %d, want at least 1", o.context)
	}
	if r.corpus, err = readCorpus(o.text, o.context); err != nil {
		return nil, err
	}
	r.config = o.modelConfig(r.corpus.vocabulary.Len())
	r.prompt = r.corpus.validation[:o.context]
	if o.prompt != "" {
		if r.prompt, err = r.corpus.vocabulary.Encode(o.prompt); err != nil {
			return nil, fmt.Errorf("--prompt: %w", err)
		}
	}
	r.model, err = layers.NewLanguageModel(r.params.Scope(""), r.config)
	return r, err
}

// dtypeOf is the element type called name.
func dtypeOf(name string) (tensor.Dtype, error) {
	switch name {
	case "float32":
		return tensor.Float32, nil
	case "float64":
		return tensor.Float64, nil
	}
	return tensor.Dtype{}, fmt.Errorf("--dtype: got %q, want float32 or float64", name)
}

// lastOnly says whether only the character after each window is asked for.
func (r *trainRun) lastOnly() bool { return !r.config.Attention.Causal() }

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

func (r *trainRun) printHead(w io.Writer) {
	c := r.corpus
	fmt.Fprintf(w, "text      %s: %d characters of %d kinds, %d to train on, %d to validate on\n",
		c.source.Name, len(c.training)+len(c.validation), c.vocabulary.Len(), len(c.training), len(c.validation))
	fmt.Fprintf(w, "model     %s, width %d, context %d: %d parameters in %d tensors\n",
		r.config.Attention.Layer, r.config.Width, r.config.Context, r.params.Count(), r.params.Len())
	if r.lastOnly() {
		fmt.Fprintf(w, "          the layer sees the whole window, so only the character after it is asked for\n")
	}
	fmt.Fprintf(w, "training  %d steps of %d windows, %s, learning rate %v\n",
		r.options.steps, r.options.batch, r.loop.Solver, r.options.rate)
	fmt.Fprintf(w, "folder    %s\n\n", r.folder.path)
}
