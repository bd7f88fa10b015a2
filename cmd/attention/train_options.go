package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"attention/layers"
	"attention/train"

	"gorgonia.org/tensor"
)

// trainOptions are the flags of attention train.
type trainOptions struct {
	text, out, prompt            string
	layer, solver, dtype         string
	width, heads, context, batch int
	steps, evalEvery, sample     int
	seed                         int64
	rate, momentum, decay        float64
	dropout, clip                float64
	qkvBias                      bool
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
	for _, f := range []struct{ name, value, want string }{
		{"text", o.text, "the name of a file"},
		{"out", o.out, "the name of a folder"},
		{"prompt", o.prompt, "at least one character"},
	} {
		if given(f.name) && f.value == "" {
			return fmt.Errorf("--%s: got nothing, want %s", f.name, f.want)
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

// validate names the first flag that makes no sense.
func (o trainOptions) validate() error {
	if !slices.Contains(layers.Variants(), o.layer) {
		return fmt.Errorf("--layer: got %q, want one of %s", o.layer, strings.Join(layers.Variants(), ", "))
	}
	if _, err := dtypeOf(o.dtype); err != nil {
		return err
	}
	if solvers := []string{train.SGD, train.Adam, train.AdamW}; !slices.Contains(solvers, o.solver) {
		return fmt.Errorf("--solver: got %q, want one of %s", o.solver, strings.Join(solvers, ", "))
	}
	if err := o.validateNumbers(); err != nil {
		return err
	}
	switch {
	case o.manyHeads() && o.width%o.heads != 0:
		return fmt.Errorf("--heads: got %d, want a divisor of --width %d", o.heads, o.width)
	case o.dropout > 0 && !o.causal():
		return fmt.Errorf("--dropout: got %v, want 0 with --layer %s, which has no dropout", o.dropout, o.layer)
	case o.momentum > 0 && o.solver != train.SGD:
		return fmt.Errorf("--momentum: got %v, want 0 with --solver %s: only sgd has momentum", o.momentum, o.solver)
	}
	return nil
}

func (o trainOptions) validateNumbers() error {
	for _, f := range []struct {
		flag       string
		got, least int
	}{
		{"width", o.width, 1}, {"heads", o.heads, 1}, {"context", o.context, 1}, {"steps", o.steps, 1},
		{"batch", o.batch, 1}, {"eval-every", o.evalEvery, 0}, {"sample", o.sample, 0},
	} {
		if f.got < f.least {
			return fmt.Errorf("--%s: got %d, want at least %d", f.flag, f.got, f.least)
		}
	}
	for _, f := range []struct {
		flag  string
		got   float64
		below float64
		want  string
	}{
		{"dropout", o.dropout, 1, "a number from 0 to below 1"},
		{"momentum", o.momentum, 1, "a number from 0 to below 1"},
		{"lr", o.rate, math.Inf(1), "a finite number, at least 0"},
		{"weight-decay", o.decay, math.Inf(1), "a finite number, at least 0"},
		{"clip", o.clip, math.Inf(1), "a finite number, at least 0"},
	} {
		if !(f.got >= 0 && f.got < f.below) { // so that NaN is refused
			return fmt.Errorf("--%s: got %v, want %s", f.flag, f.got, f.want)
		}
	}
	return nil
}

// largestTensor is how many numbers a tensor of a training step may hold: of float32
// these are 512 MB, and a step has several.
const largestTensor = 1 << 27

// checkSizes refuses what no memory would hold. It counts in float64, which does
// not overflow.
func (o trainOptions) checkSizes(vocabulary int) error {
	b, t, e, v := float64(o.batch), float64(o.context), float64(o.width), float64(vocabulary)
	scores, flags := b*t*t, "--batch, --context"
	switch {
	case o.manyHeads():
		scores, flags = scores*float64(o.heads), flags+", --heads"
	case o.layer == layers.Additive:
		scores, flags = scores*e, flags+", --width"
	}
	for _, s := range []struct {
		flags, what string
		size        float64
	}{
		{"--width", "weights of a projection", e * e},
		{"--width", "weights of an embedding", v * e},
		{"--context, --width", "weights of an embedding", t * e},
		{"--batch, --context, --width", "elements of a batch's vectors", b * t * e},
		{"--batch, --context", "scores of next characters", b * t * v},
		{flags, "scores of queries and keys", scores},
	} {
		if s.size > largestTensor {
			return fmt.Errorf("%s: got %.3g %s, want at most %d", s.flags, s.size, s.what, largestTensor)
		}
	}
	return nil
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
	return train.Config{
		Steps:  o.steps,
		Solver: train.SolverConfig{Name: o.solver, Momentum: o.momentum, WeightDecay: o.decay, Decay: train.DecayMatrices},
		Schedule: train.ScheduleConfig{Cosine: train.Cosine{
			Peak: o.rate, Floor: o.rate / 10, WarmupSteps: min(o.steps/20, 100), Steps: o.steps}},
		ClipNorm:  o.clip,
		Seed:      o.seed,
		EvalEvery: o.evalEvery,
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
