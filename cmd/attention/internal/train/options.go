package train

import (
	"fmt"

	"attention/cmd/attention/internal/run"
	"attention/layers/chapter"
	"attention/train"
	"attention/train/text"
)

// options are the flags of attention train.
type options struct {
	preset, configFile              string
	text, out, resume, init, prompt string
	tokenizer                       string
	model, layer                    string
	solver, dtype, order            string
	width, heads, context, vocab    int
	layers, kvHeads, hidden         int
	activation                      string
	normEps                         float64
	bias, tie                       bool
	embeddingDropout                float64
	attentionDropout                float64
	residualDropout                 float64
	batch, accumulate               int
	steps, warmup, decaySteps       int
	evalEvery, evalBatches          int
	saveEvery, keep                 int
	sample                          int
	seed                            int64
	rate, floor                     float64
	beta1, beta2, eps               float64
	momentum, decay                 float64
	dropout, clip                   float64
	qkvBias                         bool

	// What --config and --init hold beyond flags.
	vocabulary       text.TokenizerConfig // for --tokenizer characters; none means those of the text
	textSum, initSum string               // SHA-256 that the files must have; empty means any
}

// Defaults of --context and --batch. A causal layer learns from every position of a
// window, another one only from the character after it: of such windows a step
// needs many.
const (
	causalContext, causalBatch = 64, 16
	wholeContext, wholeBatch   = 8, 128
)

// Defaults of --lr.
const (
	adamRate = 0.005
	gptRate  = 0.001 // adam's for a GPT
	sgdRate  = 1     // steps of SGD are as small as its gradients
)

// settle fills in the defaults that depend on other flags, then checks all flags. given reports
// whether a flag was on the command line.
func (o *options) settle(given func(flag string) bool) error {
	context, batch, rate := wholeContext, wholeBatch, adamRate
	if o.causal() {
		context, batch = causalContext, causalBatch
	}
	switch {
	case o.solver == train.SGD:
		rate = sgdRate
	case o.model == run.GPTModel:
		rate = gptRate
	}
	if !given("context") {
		o.context = context
	}
	if !given("batch") {
		o.batch = batch
	}
	if !given("lr") {
		o.rate = rate
	}
	if !given("min-lr") {
		o.floor = o.rate / 10
	}
	if !given("decay-steps") {
		o.decaySteps = o.steps
	}
	if !given("warmup") {
		o.warmup = min(o.decaySteps/20, 100)
	}
	for flag, p := range map[string]*float64{"embedding-dropout": &o.embeddingDropout,
		"attention-dropout": &o.attentionDropout, "residual-dropout": &o.residualDropout} {
		if !given(flag) {
			*p = o.dropout
		}
	}
	if err := o.checkNames(given); err != nil {
		return err
	}
	if err := o.checkFitting(given); err != nil {
		return err
	}
	return o.validate()
}

// causal reports whether the model learns from every position of a window.
func (o options) causal() bool {
	return o.model == run.GPTModel || chapter.Config{Layer: o.layer}.Causal()
}

// manyHeads reports whether --heads sets the number of the model's heads.
func (o options) manyHeads() bool {
	return o.model == run.GPTModel || o.layer == "multi_head" || o.layer == "multi_head_wrapper"
}

// run.ModelConfig sizes the model for a vocabulary of size V.
func (o options) modelConfig(vocabulary int) run.ModelConfig {
	if o.model == run.GPTModel {
		c := o.gptConfig(vocabulary)
		return run.ModelConfig{GPT: &c}
	}
	c := o.layerConfig(vocabulary)
	return run.ModelConfig{Layer: &c}
}

// layerConfig is the config of a model around one attention layer.
func (o options) layerConfig(vocabulary int) chapter.LanguageModelConfig {
	a := chapter.Config{Layer: o.layer, EmbedDim: o.width}
	switch o.layer {
	case "additive":
		a = chapter.Config{Layer: o.layer, QueryDim: o.width, KeyDim: o.width, AttnDim: o.width}
	case "multi_head_wrapper":
		a.OutDim = o.width / o.heads
	case "simple":
	default:
		a.OutDim = o.width
	}
	if a.Causal() {
		a.ContextLength, a.Dropout = o.context, o.dropout
	}
	if a.Causal() || o.layer == "self_v2" {
		a.QKVBias = o.qkvBias
	}
	if o.manyHeads() {
		a.NumHeads = o.heads
	}
	return chapter.LanguageModelConfig{VocabSize: vocabulary, ContextLength: o.context, EmbedDim: o.width, Attention: a}
}

// loopConfig returns the config of the training loop.
func (o options) loopConfig() train.Config {
	solver := train.SolverConfig{Name: o.solver, Momentum: o.momentum, WeightDecay: o.decay, Decay: train.DecayMatrices}
	if o.solver != train.SGD {
		solver.Beta1, solver.Beta2, solver.Eps = o.beta1, o.beta2, o.eps
	}
	return train.Config{
		Steps:      o.steps,
		Accumulate: o.accumulate,
		StepConfig: train.StepConfig{
			Solver: solver,
			Schedule: train.ScheduleConfig{Schedule: train.Cosine{
				Peak: o.rate, Floor: o.floor, WarmupSteps: o.warmup, Steps: o.decaySteps}},
			ClipNorm: o.clip,
			Seed:     o.seed,
		},
		EvalEvery: o.evalEvery,
	}
}

// run.ReadCorpus reads the text that the flags name.
func (o options) readCorpus() (*run.Corpus, error) {
	c, err := run.ReadCorpus(o.text, o.context, o.tokens())
	if err != nil {
		return nil, err
	}
	if n := c.Tokenizer.Len(); o.vocab > 0 && o.vocab < n {
		return nil, fmt.Errorf("--vocab: got %d, want at least the %d %s of the tokenizer", o.vocab, n, c.Unit())
	}
	return c, c.CheckSum(o.textSum)
}

// runConfig returns the config of a run on a text.
func (o options) runConfig(c *run.Corpus) run.Config {
	return run.Config{
		Text: c.Source, Vocabulary: c.Tokenizer.Config(), NGram: c.NGram,
		Model: o.modelConfig(o.vocabularyOf(c)), Dtype: o.dtype,
		Batch: o.batch, Order: o.order, Training: o.loopConfig(), EvalBatches: o.evalBatches,
		Checkpoints: train.CheckpointsConfig{Every: o.saveEvery, Keep: o.keep},
		Sample:      run.SampleConfig{Tokens: o.sample, Prompt: o.prompt},
	}
}

// vocabularyOf is V: the tokens that a text may have, or more.
func (o options) vocabularyOf(c *run.Corpus) int {
	if o.vocab > 0 {
		return o.vocab
	}
	return c.Tokenizer.Len()
}

// tokens returns the config of the tokenizer.
func (o options) tokens() text.TokenizerConfig {
	if o.tokenizer == text.Characters {
		return text.TokenizerConfig{Name: o.tokenizer, Characters: o.vocabulary.Characters}
	}
	return text.TokenizerConfig{Name: o.tokenizer}
}
