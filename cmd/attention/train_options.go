package main

import (
	"fmt"

	"attention/layers"
	"attention/train"

	"gorgonia.org/tensor"
)

// trainOptions are the flags of attention train.
type trainOptions struct {
	text, out, resume, init, prompt string
	layer, solver, dtype, order     string
	width, heads, context           int
	batch, accumulate               int
	steps, warmup, decaySteps       int
	evalEvery, saveEvery, keep      int
	sample                          int
	seed                            int64
	rate, floor                     float64
	beta1, beta2, eps               float64
	momentum, decay                 float64
	dropout, clip                   float64
	qkvBias                         bool
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
	sgdRate  = 1 // steps of SGD are as small as its gradients
)

// settle fills in the defaults that depend on other flags, then checks all flags.
// given says whether a flag was on the command line.
func (o *trainOptions) settle(given func(flag string) bool) error {
	context, batch, rate := wholeContext, wholeBatch, adamRate
	if o.causal() {
		context, batch = causalContext, causalBatch
	}
	if o.solver == train.SGD {
		rate = sgdRate
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
	if err := o.checkNames(given); err != nil {
		return err
	}
	if o.solver == train.SGD {
		for _, flag := range []string{"beta1", "beta2", "eps"} {
			if given(flag) {
				return fmt.Errorf("--%s: got it with --solver sgd, want it with adam or adamw only", flag)
			}
		}
	}
	return o.validate()
}

// causal says whether the layer learns from every position of a window.
func (o trainOptions) causal() bool { return layers.VariantConfig{Layer: o.layer}.Causal() }

// manyHeads says whether the layer has as many heads as it is told.
func (o trainOptions) manyHeads() bool {
	return o.layer == layers.MultiHead || o.layer == layers.MultiHeadWrapper
}

// modelConfig sizes the model for a vocabulary of size V.
func (o trainOptions) modelConfig(vocabulary int) layers.LanguageModelConfig {
	a := layers.VariantConfig{Layer: o.layer, DIn: o.width}
	switch o.layer {
	case layers.Additive:
		a = layers.VariantConfig{Layer: o.layer, DQuery: o.width, DKey: o.width, DAttn: o.width}
	case layers.MultiHeadWrapper:
		a.DOut = o.width / o.heads
	case layers.Simple:
	default:
		a.DOut = o.width
	}
	if a.Causal() {
		a.ContextLength, a.Dropout = o.context, o.dropout
	}
	if a.Causal() || o.layer == layers.SelfV2 {
		a.QKVBias = o.qkvBias
	}
	if o.manyHeads() {
		a.NumHeads = o.heads
	}
	return layers.LanguageModelConfig{Vocab: vocabulary, Context: o.context, Width: o.width, Attention: a}
}

// loopConfig says how to train.
func (o trainOptions) loopConfig() train.Config {
	solver := train.SolverConfig{Name: o.solver, Momentum: o.momentum, WeightDecay: o.decay, Decay: train.DecayMatrices}
	if o.solver != train.SGD {
		solver.Beta1, solver.Beta2, solver.Eps = o.beta1, o.beta2, o.eps
	}
	return train.Config{
		Steps:      o.steps,
		Accumulate: o.accumulate,
		Solver:     solver,
		Schedule: train.ScheduleConfig{Cosine: train.Cosine{
			Peak: o.rate, Floor: o.floor, WarmupSteps: o.warmup, Steps: o.decaySteps}},
		ClipNorm:  o.clip,
		Seed:      o.seed,
		EvalEvery: o.evalEvery,
	}
}

// runConfig is what the flags say of a run on a text.
func (o trainOptions) runConfig(c *corpus) runConfig {
	return runConfig{
		Text: c.source, Vocabulary: c.vocabulary, NGram: c.ngram,
		Model: o.modelConfig(c.vocabulary.Len()), Dtype: o.dtype,
		Batch: o.batch, Order: o.order, Training: o.loopConfig(),
		Checkpoints: train.CheckpointsConfig{Every: o.saveEvery, Keep: o.keep},
	}
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
