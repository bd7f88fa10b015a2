package main

import (
	"fmt"
	"os"
	"path/filepath"

	"attention/layers"
	"attention/train"
)

// translateOptions are the flags of attention translate.
type translateOptions struct {
	steps, batch, width, heads, blocks int
	seed                               int64
	out                                string
}

// Settings that have no flag.
const (
	translateRate   = 0.003
	translateWarmup = 100 // steps
	evalSteps       = 100 // between two evaluations
)

// validate names the first flag that makes no sense. given says whether a flag was on
// the command line.
func (o translateOptions) validate(given func(flag string) bool) error {
	if err := atLeast([]leastFlag{
		{"steps", o.steps, 1}, {"batch", o.batch, 1}, {"width", o.width, 1}, {"heads", o.heads, 1}, {"blocks", o.blocks, 1},
	}); err != nil {
		return err
	}
	if o.width%o.heads != 0 {
		return fmt.Errorf("--heads: got %d, want a divisor of --width %d", o.heads, o.width)
	}
	b, e, n := float64(o.batch), float64(o.width), float64(o.blocks)
	for _, s := range []struct {
		flags, what string
		size        float64
	}{
		{"--width, --blocks", "weights", 28 * e * e * n},
		{"--batch, --width", "elements of an MLP", b * float64(writtenLength) * 4 * e},
	} {
		if s.size > largestTensor {
			return fmt.Errorf("%s: got %.3g %s, want at most %d", s.flags, s.size, s.what, largestTensor)
		}
	}
	return o.checkOut(given("out"))
}

// checkOut finds out before the training whether a picture can be written.
func (o translateOptions) checkOut(given bool) error {
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

func (o translateOptions) modelConfig(a alphabets) layers.Seq2SeqConfig {
	return layers.Seq2SeqConfig{
		SourceVocab:   a.written.Len(),
		TargetVocab:   a.iso.Len() + 1, // and the begin mark
		Context:       max(writtenLength, isoLength),
		Width:         o.width,
		EncoderLayers: o.blocks,
		DecoderLayers: o.blocks,
		NumHeads:      o.heads,
	}
}

func (o translateOptions) trainConfig() train.Config {
	return train.Config{
		Steps:    o.steps,
		Solver:   train.SolverConfig{Name: train.AdamW, Beta2: 0.99},
		Schedule: train.ScheduleConfig{Cosine: train.Cosine{Peak: translateRate, WarmupSteps: min(translateWarmup, o.steps/4), Steps: o.steps}},
		ClipNorm: 1, Seed: o.seed, EvalEvery: evalSteps,
	}
}
