package translate

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"attention/layers"
	"attention/train"
)

// options are the flags of attention translate.
type options struct {
	steps, batch, width, heads, blocks int
	seed                               int64
	out                                string
}

// Settings that have no flag.
const (
	peakRate  = 0.003
	warmup    = 100 // steps
	evalSteps = 100 // between two evaluations

	// maxElements is the most that a tensor of a training step may have: 512 MB in float32,
	// and a step has several.
	maxElements = 1 << 27
)

// validate returns an error for the first wrong flag. given reports whether a flag was on
// the command line.
func (o options) validate(given func(flag string) bool) error {
	for _, f := range []struct {
		name string
		got  int
	}{{"steps", o.steps}, {"batch", o.batch}, {"width", o.width}, {"heads", o.heads}, {"blocks", o.blocks}} {
		if f.got < 1 {
			return fmt.Errorf("--%s: got %d, want at least 1", f.name, f.got)
		}
	}
	if o.width%o.heads != 0 {
		return fmt.Errorf("--heads: got %d, want a divisor of --width %d", o.heads, o.width)
	}
	b, e, n := float64(o.batch), float64(o.width), float64(o.blocks)
	return cmp.Or(
		checkElements("--width, --blocks", "weights", 28*e*e*n),
		checkElements("--batch, --width", "elements of an MLP", b*float64(writtenLength)*4*e),
		o.checkOut(given("out")),
	)
}

// checkElements returns an error for flags that make tensors of too many elements. Their
// number is a float64, which does not overflow.
func checkElements(flags, what string, n float64) error {
	if n > maxElements {
		return fmt.Errorf("%s: got %.3g %s, want at most %d", flags, n, what, maxElements)
	}
	return nil
}

// checkOut returns an error if the picture cannot be written, before the training.
func (o options) checkOut(given bool) error {
	if !given {
		return nil
	}
	if o.out == "" {
		return fmt.Errorf("--out: got nothing, want the name of a file")
	}
	if f, err := os.Stat(o.out); err == nil && f.IsDir() {
		return fmt.Errorf("--out: %s: is a folder, want a file to write", o.out)
	}
	if f, err := os.Stat(filepath.Dir(o.out)); err != nil || !f.IsDir() {
		return fmt.Errorf("--out: %s: want a file in a folder that is there", o.out)
	}
	return nil
}

func (o options) modelConfig(a alphabets) layers.Seq2SeqConfig {
	return layers.Seq2SeqConfig{
		SourceVocabSize:  a.written.Len(),
		TargetVocabSize:  a.iso.Len() + 1, // and the begin mark
		ContextLength:    max(writtenLength, isoLength),
		EmbedDim:         o.width,
		NumEncoderLayers: o.blocks,
		NumDecoderLayers: o.blocks,
		NumHeads:         o.heads,
	}
}

func (o options) trainConfig() train.Config {
	return train.Config{
		Steps: o.steps, EvalEvery: evalSteps,
		StepConfig: train.StepConfig{
			Solver: train.SolverConfig{Name: train.AdamW, Beta2: 0.99},
			Schedule: train.ScheduleConfig{
				Schedule: train.CosineLR{Peak: peakRate, WarmupSteps: min(warmup, o.steps/4), Steps: o.steps}},
			ClipNorm: 1, Seed: o.seed,
		},
	}
}
