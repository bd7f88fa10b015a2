package models

import (
	"cmp"
	"fmt"

	"attention/cmd/attention/internal/run/settings"
	"attention/train/pretrained"
)

// OpenEncoder reads an encoder with its weights: that of a folder of transformers or sentence-transformers, or of a run
// of attention finetune. base is the folder in which the run's base is now; "" means where it was. The notes are on the
// origin of the weights, to be printed.
func OpenEncoder(dir, base string) (e *pretrained.Encoder, notes []string, err error) {
	in, err := Inspect(dir)
	if err != nil || !in.IsRun() {
		e, err = pretrained.OpenEncoder(dir)
		return e, nil, err
	}
	return in.OpenEncoder(base)
}

// OpenEncoder is OpenEncoder for the folder of a run.
func (in *Inspection) OpenEncoder(base string) (e *pretrained.Encoder, notes []string, err error) {
	if in.Kind != settings.EncoderModel {
		return nil, nil, in.ErrKind("an encoder")
	}
	c, of := in.Config, *in.Config.Tuning
	of.Base.Name = cmp.Or(base, of.Base.Name)
	c.Tuning = &of
	if e, err = OpenEncoderBase(c); err != nil {
		return nil, nil, fmt.Errorf("%s: tuning: base: %w", in.configPath(), err)
	}
	identity, err := c.ModelIdentity()
	if err != nil {
		return nil, nil, err
	}
	if in.unfinished {
		notes, err = in.readCheckpoints(in.Checkpoints, e.Params, identity)
		return e, notes, err
	}
	return e, nil, in.ReadModel(e.Params, identity)
}

// OpenEncoderBase is OpenBase for a run that tunes an encoder.
func OpenEncoderBase(c settings.Config) (*pretrained.Encoder, error) {
	of := c.Tuning
	in, err := inspectBase(of)
	if err != nil {
		return nil, err
	}
	e, err := pretrained.OpenEncoder(in.Dir)
	if err != nil {
		return nil, err
	}
	if of.LoRA != nil {
		lora := *of.LoRA
		lora.Seed = c.Training.Seed
		if err := e.Params.AddLoRA(lora); err != nil {
			return nil, err
		}
	}
	e.Params.Widen()
	return e, nil
}
