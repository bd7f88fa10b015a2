package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"attention/layers"
	"attention/train"
	"attention/train/text"
)

// checkNames refuses flags that are given and name nothing.
func (o trainOptions) checkNames(given func(flag string) bool) error {
	for _, f := range []struct{ name, value, want string }{
		{"preset", o.preset, "one of " + presetNames()},
		{"config", o.configFile, "the name of a file"},
		{"text", o.text, "the name of a file"},
		{"out", o.out, "the name of a folder"},
		{"resume", o.resume, "the name of a folder"},
		{"init", o.init, "the name of a file or a folder"},
		{"prompt", o.prompt, "at least one character"},
	} {
		if given(f.name) && f.value == "" {
			return fmt.Errorf("--%s: got nothing, want %s", f.name, f.want)
		}
	}
	return nil
}

// validateResume checks the flags that may stand beside --resume.
func (o trainOptions) validateResume(given func(flag string) bool) error {
	if err := o.checkNames(given); err != nil {
		return err
	}
	return atLeast([]leastFlag{{"steps", o.steps, 1}, {"save-every", o.saveEvery, 0}, {"keep", o.keep, 1}, {"sample", o.sample, 0}})
}

// checkFitting refuses flags that are given to no effect.
func (o trainOptions) checkFitting(given func(flag string) bool) error {
	for _, f := range []struct {
		flags []string
		ok    bool
		got   string
		want  string
	}{
		{[]string{"beta1", "beta2", "eps"}, o.solver != train.SGD, "--solver sgd", "adam or adamw"},
		{[]string{"layer", "qkv-bias"}, o.model != gptName, "--model " + o.model, "--model " + layerName},
		{[]string{"layers", "kv-heads", "hidden", "activation", "norm-eps", "bias", "tie",
			"embedding-dropout", "attention-dropout", "residual-dropout"}, o.model != layerName, "--model " + o.model, "--model " + gptName},
	} {
		for _, flag := range f.flags {
			if !f.ok && given(flag) {
				return fmt.Errorf("--%s: got it with %s, want it with %s only", flag, f.got, f.want)
			}
		}
	}
	return nil
}

// ofSolver says whether a flag is about the solver beside it and would mislead another.
func ofSolver(flag string) bool {
	return slices.Contains([]string{"lr", "min-lr", "beta1", "beta2", "eps", "momentum", "weight-decay"}, flag)
}

// validate names the first flag that makes no sense.
func (o trainOptions) validate() error {
	if o.model != layerName && o.model != gptName {
		return fmt.Errorf("--model: got %q, want %s or %s", o.model, layerName, gptName)
	}
	if !slices.Contains(layers.Variants(), o.layer) {
		return fmt.Errorf("--layer: got %q, want one of %s", o.layer, strings.Join(layers.Variants(), ", "))
	}
	if names := []string{text.Characters, text.Bytes, text.GPT2}; !slices.Contains(names, o.tokenizer) {
		return fmt.Errorf("--tokenizer: got %q, want one of %s", o.tokenizer, strings.Join(names, ", "))
	}
	if _, err := dtypeOf(o.dtype); err != nil {
		return err
	}
	if solvers := []string{train.SGD, train.Adam, train.AdamW}; !slices.Contains(solvers, o.solver) {
		return fmt.Errorf("--solver: got %q, want one of %s", o.solver, strings.Join(solvers, ", "))
	}
	if names := []string{"gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "silu"}; !slices.Contains(names, o.activation) {
		return fmt.Errorf("--activation: got %q, want one of %s", o.activation, strings.Join(names, ", "))
	}
	if err := validOrder(o.order); err != nil {
		return err
	}
	if err := o.validateNumbers(); err != nil {
		return err
	}
	switch {
	case o.floor > o.rate:
		return fmt.Errorf("--min-lr: got %v, want at most --lr %v", o.floor, o.rate)
	case o.warmup >= o.decaySteps:
		return fmt.Errorf("--warmup: got %d, want less than the %d steps of --decay-steps", o.warmup, o.decaySteps)
	case o.manyHeads() && o.width%o.heads != 0:
		return fmt.Errorf("--heads: got %d, want a divisor of --width %d", o.heads, o.width)
	case o.kvHeads > 0 && o.heads%o.kvHeads != 0:
		return fmt.Errorf("--kv-heads: got %d, want a divisor of --heads %d", o.kvHeads, o.heads)
	case o.dropout > 0 && !o.causal():
		return fmt.Errorf("--dropout: got %v, want 0 with --layer %s, which has no dropout", o.dropout, o.layer)
	case o.momentum > 0 && o.solver != train.SGD:
		return fmt.Errorf("--momentum: got %v, want 0 with --solver %s: only sgd has momentum", o.momentum, o.solver)
	}
	return nil
}

// leastFlag is a whole number and the least that it may be.
type leastFlag struct {
	flag       string
	got, least int
}

func atLeast(flags []leastFlag) error {
	for _, f := range flags {
		if f.got < f.least {
			return fmt.Errorf("--%s: got %d, want at least %d", f.flag, f.got, f.least)
		}
	}
	return nil
}

func (o trainOptions) validateNumbers() error {
	if err := atLeast([]leastFlag{
		{"width", o.width, 1}, {"heads", o.heads, 1}, {"context", o.context, 1}, {"steps", o.steps, 1}, {"vocab", o.vocab, 0},
		{"layers", o.layers, 1}, {"kv-heads", o.kvHeads, 0}, {"hidden", o.hidden, 0}, {"eval-batches", o.evalBatches, 0},
		{"batch", o.batch, 1}, {"accumulate", o.accumulate, 1}, {"warmup", o.warmup, 0}, {"decay-steps", o.decaySteps, 1},
		{"eval-every", o.evalEvery, 0}, {"save-every", o.saveEvery, 0}, {"keep", o.keep, 1}, {"sample", o.sample, 0},
	}); err != nil {
		return err
	}
	for _, f := range []struct {
		flag  string
		got   float64
		below float64
		want  string
	}{
		{"dropout", o.dropout, 1, "a number from 0 to below 1"},
		{"embedding-dropout", o.embeddingDropout, 1, "a number from 0 to below 1"},
		{"attention-dropout", o.attentionDropout, 1, "a number from 0 to below 1"},
		{"residual-dropout", o.residualDropout, 1, "a number from 0 to below 1"},
		{"momentum", o.momentum, 1, "a number from 0 to below 1"},
		{"lr", o.rate, math.Inf(1), "a finite number, at least 0"},
		{"min-lr", o.floor, math.Inf(1), "a finite number, at least 0"},
		{"weight-decay", o.decay, math.Inf(1), "a finite number, at least 0"},
		{"clip", o.clip, math.Inf(1), "a finite number, at least 0"},
	} {
		if !(f.got >= 0 && f.got < f.below) { // so that NaN is refused
			return fmt.Errorf("--%s: got %v, want %s", f.flag, f.got, f.want)
		}
	}
	for _, f := range []struct {
		flag       string
		got, below float64
		want       string
	}{
		{"beta1", o.beta1, 1, "a number above 0 and below 1"},
		{"beta2", o.beta2, 1, "a number above 0 and below 1"},
		{"eps", o.eps, math.Inf(1), "a finite number above 0"},
		{"norm-eps", o.normEps, math.Inf(1), "a finite number above 0"},
	} {
		if !(f.got > 0 && f.got < f.below) {
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
	if o.model == gptName {
		return o.checkGPTSizes(vocabulary)
	}
	b, t, e, v := float64(o.batch), float64(o.context), float64(o.width), float64(vocabulary)
	scores, flags := b*t*t, "--batch, --context"
	switch {
	case o.manyHeads():
		scores, flags = scores*float64(o.heads), flags+", --heads"
	case o.layer == layers.Additive:
		scores, flags = scores*e, flags+", --width"
	}
	return checkTensors(largestTensor, []sizedTensor{
		{"--width", "weights of a projection", e * e},
		{"--width", "weights of an embedding", v * e},
		{"--context, --width", "weights of an embedding", t * e},
		{"--batch, --context, --width", "elements of a batch's vectors", b * t * e},
		{"--batch, --context", "scores of next " + unitOf(o.tokenizer), b * t * v},
		{flags, "scores of queries and keys", scores},
	})
}

// sizedTensor is a tensor that flags make so large.
type sizedTensor struct {
	flags, what string
	size        float64
}

func checkTensors(largest float64, tensors []sizedTensor) error {
	for _, s := range tensors {
		if s.size > largest {
			return fmt.Errorf("%s: got %.3g %s, want at most %.0f", s.flags, s.size, s.what, largest)
		}
	}
	return nil
}
