package models

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"attention/cmd/attention/internal/run/settings"
	"attention/train/pretrained"
)

// OpenEncoder reads an encoder with its weights: that of a folder of transformers or sentence-transformers, or of a run
// of attention finetune. base is the present folder of the run's base; "" means that it has not moved. The notes
// describe the origin of the weights and should be printed.
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

// OpenHead is OpenEncoder for an encoder with the head of a task, which open reads from a folder that is not of a run.
func OpenHead(dir, base, task string, open func(dir string) (*pretrained.Encoder, error)) (e *pretrained.Encoder,
	notes []string, err error) {
	in, err := Inspect(dir)
	if err != nil || !in.IsRun() {
		e, err = open(dir)
		return e, nil, err
	}
	if t := in.Config.Tuning; in.Kind == settings.EncoderModel && t.Task != task {
		return nil, nil, fmt.Errorf("%s: got a run of --task %s, want one of --task %s", dir, t.Task, task)
	}
	return in.OpenEncoder(base)
}

// IsEncoder reports whether a folder has an encoder, even one that cannot be opened.
func IsEncoder(dir string) bool {
	in, err := Inspect(dir)
	if err != nil || in.IsRun() || !settings.IsFolder(in.Dir) {
		return err == nil && in.Kind == settings.EncoderModel
	}
	_, err = pretrained.OpenEncoder(in.Dir)
	return !errors.Is(err, pretrained.ErrFamily)
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
	head := []string(nil) // the names of a new head's parameters
	switch of.Task {
	case settings.ClassifyTask:
		head, err = []string{"pooler.dense", "classifier"}, e.AddClassifier(of.Classes, c.Training.Seed)
	case settings.TagTask:
		head, err = []string{"classifier"}, e.AddTokenClassifier(of.Classes, c.Training.Seed)
	case settings.MaskTask, settings.RankTask: // with the folder's head if it has one
		open, add, names := pretrained.OpenMaskedLM, e.AddMaskedLM, []string{"cls.predictions"}
		if of.Task == settings.RankTask {
			open, add, names = pretrained.OpenCrossEncoder, e.AddCrossEncoder, []string{"pooler.dense", "classifier"}
		}
		if with, wrong := open(in.Dir); wrong == nil {
			e = with
		} else if errors.Is(wrong, pretrained.ErrNoHead) {
			head, err = names, add(c.Training.Seed)
		} else {
			err = wrong
		}
	}
	if err != nil {
		return nil, err
	}
	if of.LoRA != nil {
		lora := *of.LoRA
		lora.Seed, lora.Whole = c.Training.Seed, slices.Concat(lora.Whole, head)
		if err := e.Params.AddLoRA(lora); err != nil {
			return nil, err
		}
	}
	e.Params.Widen()
	return e, nil
}
