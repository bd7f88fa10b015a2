package train

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/run"
	"attention/layers/chapter"
	"attention/train"
	"attention/train/text"
)

// checkNames refuses flags that are given and name nothing.
func (o options) checkNames(given func(flag string) bool) error {
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
func (o options) validateResume(given func(flag string) bool) error {
	if err := o.checkNames(given); err != nil {
		return err
	}
	return cmp.Or(flags.AtLeast("steps", o.steps, 1), flags.AtLeast("save-every", o.saveEvery, 0), flags.AtLeast("keep", o.keep, 1),
		flags.AtLeast("sample", o.sample, 0))
}

// checkFitting refuses flags that are given to no effect.
func (o options) checkFitting(given func(flag string) bool) error {
	for _, f := range []struct {
		flags []string
		ok    bool
		got   string
		want  string
	}{
		{[]string{"beta1", "beta2", "eps"}, o.solver != train.SGD, "--solver sgd", "adam or adamw"},
		{[]string{"layer", "qkv-bias"}, o.model != run.GPTModel, "--model " + o.model, "--model " + run.LayerModel},
		{[]string{"layers", "kv-heads", "hidden", "activation", "norm-eps", "bias", "tie",
			"embedding-dropout", "attention-dropout", "residual-dropout"}, o.model != run.LayerModel, "--model " + o.model, "--model " + run.GPTModel},
	} {
		for _, flag := range f.flags {
			if !f.ok && given(flag) {
				return fmt.Errorf("--%s: got it with %s, want it with %s only", flag, f.got, f.want)
			}
		}
	}
	return nil
}

// ofSolver reports whether a flag's value is made for the solver beside it.
func ofSolver(flag string) bool {
	return slices.Contains([]string{"lr", "min-lr", "beta1", "beta2", "eps", "momentum", "weight-decay"}, flag)
}

// validate names the first flag that makes no sense.
func (o options) validate() error {
	if o.model != run.LayerModel && o.model != run.GPTModel {
		return fmt.Errorf("--model: got %q, want %s or %s", o.model, run.LayerModel, run.GPTModel)
	}
	if !slices.Contains(chapter.Names(), o.layer) {
		return fmt.Errorf("--layer: got %q, want one of %s", o.layer, strings.Join(chapter.Names(), ", "))
	}
	if names := []string{text.Characters, text.Bytes, text.GPT2}; !slices.Contains(names, o.tokenizer) {
		return fmt.Errorf("--tokenizer: got %q, want one of %s", o.tokenizer, strings.Join(names, ", "))
	}
	if _, err := flags.Dtype(o.dtype); err != nil {
		return err
	}
	if solvers := []string{train.SGD, train.Adam, train.AdamW}; !slices.Contains(solvers, o.solver) {
		return fmt.Errorf("--solver: got %q, want one of %s", o.solver, strings.Join(solvers, ", "))
	}
	if names := []string{"gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "silu"}; !slices.Contains(names, o.activation) {
		return fmt.Errorf("--activation: got %q, want one of %s", o.activation, strings.Join(names, ", "))
	}
	if err := run.CheckOrder(o.order); err != nil {
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

func (o options) validateNumbers() error {
	if err := cmp.Or(
		flags.AtLeast("width", o.width, 1),
		flags.AtLeast("heads", o.heads, 1),
		flags.AtLeast("context", o.context, 1),
		flags.AtLeast("steps", o.steps, 1),
		flags.AtLeast("vocab", o.vocab, 0),
		flags.AtLeast("layers", o.layers, 1),
		flags.AtLeast("kv-heads", o.kvHeads, 0),
		flags.AtLeast("hidden", o.hidden, 0),
		flags.AtLeast("eval-batches", o.evalBatches, 0),
		flags.AtLeast("batch", o.batch, 1),
		flags.AtLeast("accumulate", o.accumulate, 1),
		flags.AtLeast("warmup", o.warmup, 0),
		flags.AtLeast("decay-steps", o.decaySteps, 1),
		flags.AtLeast("eval-every", o.evalEvery, 0),
		flags.AtLeast("save-every", o.saveEvery, 0),
		flags.AtLeast("keep", o.keep, 1),
		flags.AtLeast("sample", o.sample, 0),
	); err != nil {
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

// checkSizes refuses what no memory would hold. It counts in float64, which does
// not overflow.
func (o options) checkSizes(vocabulary int) error {
	if o.model == run.GPTModel {
		return o.checkGPTSizes(vocabulary)
	}
	b, t, e, v := float64(o.batch), float64(o.context), float64(o.width), float64(vocabulary)
	scores, sizes := b*t*t, "--batch, --context"
	switch {
	case o.manyHeads():
		scores, sizes = scores*float64(o.heads), sizes+", --heads"
	case o.layer == "additive":
		scores, sizes = scores*e, sizes+", --width"
	}
	return cmp.Or(
		flags.CheckTensor("--width", "weights of a projection", e*e, flags.MaxTensor),
		flags.CheckTensor("--width", "weights of an embedding", v*e, flags.MaxTensor),
		flags.CheckTensor("--context, --width", "weights of an embedding", t*e, flags.MaxTensor),
		flags.CheckTensor("--batch, --context, --width", "elements of a batch's vectors", b*t*e, flags.MaxTensor),
		flags.CheckTensor("--batch, --context", "scores of next "+run.UnitOf(o.tokenizer), b*t*v, flags.MaxTensor),
		flags.CheckTensor(sizes, "scores of queries and keys", scores, flags.MaxTensor),
	)
}
