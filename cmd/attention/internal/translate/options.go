package translate

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"attention/cmd/attention/internal/flags"
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
)

// validate returns an error for the first wrong flag. given reports whether a flag was on
// the command line.
func (o options) validate(given func(flag string) bool) error {
	if err := cmp.Or(
		flags.AtLeast("steps", o.steps, 1), flags.AtLeast("batch", o.batch, 1), flags.AtLeast("width", o.width, 1),
		flags.AtLeast("heads", o.heads, 1), flags.AtLeast("blocks", o.blocks, 1),
	); err != nil {
		return err
	}
	if o.width%o.heads != 0 {
		return fmt.Errorf("--heads: got %d, want a divisor of --width %d", o.heads, o.width)
	}
	b, e, n := float64(o.batch), float64(o.width), float64(o.blocks)
	return cmp.Or(
		flags.CheckTensor("--width, --blocks", "weights", 28*e*e*n, flags.MaxTensor),
		flags.CheckTensor("--batch, --width", "elements of an MLP", b*float64(writtenLength)*4*e, flags.MaxTensor),
		o.checkOut(given("out")),
	)
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
				Schedule: train.Cosine{Peak: peakRate, WarmupSteps: min(warmup, o.steps/4), Steps: o.steps}},
			ClipNorm: 1, Seed: o.seed,
		},
	}
}
