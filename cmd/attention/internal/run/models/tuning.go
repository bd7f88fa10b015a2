package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/settings"
	"attention/layers"
	"attention/train/pretrained"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// Base is the model that a run tunes, with its adapters.
type Base struct {
	*pretrained.GPT
	Template   *text.Template     // of conversations; nil if there is none
	Classifier *layers.Classifier // nil if no classes are learned
	tuning     *settings.Tuning
}

// scoreName is the parameter of a classifier.
const scoreName = "score.weight"

// OpenBase reads the model that a run tunes, with adapters as they begin. The files must be those with which the run
// began, if their checksum is known.
func OpenBase(c settings.Config) (b *Base, err error) {
	of := c.Tuning
	in, err := inspectBase(of)
	if err != nil {
		return nil, err
	}
	b = &Base{tuning: of}
	if b.GPT, err = in.GPT(); err != nil {
		return nil, err
	}
	if b.Tokenizer == nil {
		return nil, fmt.Errorf("%s: got a model without a tokenizer, want one with its %s", in.Dir, settings.TokenizerFile)
	}
	if err := adapt(c, b); err != nil {
		return nil, err
	}
	b.Ends, b.Template, err = OpenTemplate(of, b.GPT)
	return b, err
}

// inspectBase reads the folder of a run's base, which must not be a run of attention finetune itself.
func inspectBase(of *settings.Tuning) (*Inspection, error) {
	in, err := Inspect(of.Base.Name)
	if err == nil && of.Base.SHA256 != "" {
		err = of.Base.Same()
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; if the base has moved, give its path with --base", err)
	}
	if err == nil && in.Config.Tuning != nil {
		err = in.errTuned("the whole model")
	}
	return in, err
}

// adapt adds the weights that are trained beside a base to it.
func adapt(c settings.Config, b *Base) (err error) {
	of := c.Tuning
	if len(of.Classes) > 0 {
		if b.Classifier, err = layers.NewClassifier(b.Model, len(of.Classes), c.Training.Seed); err != nil {
			return err
		}
	}
	if of.LoRA != nil {
		lora := *of.LoRA
		if lora.Seed = c.Training.Seed; b.Classifier != nil {
			lora.Whole = append(slices.Clone(lora.Whole), scoreName)
		}
		if err := b.Params.AddLoRA(lora); err != nil {
			return err
		}
	}
	b.Params.Widen()
	return nil
}

// CopyBase returns the base's model with its own copy of the trained parameters; later steps do not change it.
func CopyBase(c settings.Config, b *Base) (*OpenModel, error) {
	p := layers.NewStoredParams(b.Params.Dtype())
	m, err := layers.NewDecoder(p.Scope(""), b.Model.Config())
	if err != nil {
		return nil, err
	}
	if err := adapt(c, &Base{GPT: &pretrained.GPT{Model: m, Params: p}}); err != nil {
		return nil, err
	}
	for name, value := range b.Params.All() {
		if !b.Params.Frozen(name) {
			value = value.Clone().(*tensor.Dense)
		}
		if err := p.Keep(name, value); err != nil {
			return nil, err
		}
	}
	return &OpenModel{Model: settings.NewDecoder(m), Tokenizer: b.Tokenizer, EndOfText: b.EndOfText, Ends: b.Ends}, nil
}

// errTuned returns the error about a run of attention finetune where another model is wanted.
func (in *Inspection) errTuned(want string) error {
	return fmt.Errorf("%s: got a run of attention finetune, want %s; write it with: %s", in.Dir, want,
		program.Command("export", "--model", in.Dir, "--format", "huggingface", "--out", "DIR"))
}

// OpenTemplate returns the template of a run's conversations with a model, nil if there is none, and the ids that end
// an answer.
func OpenTemplate(t *settings.Tuning, g *pretrained.GPT) (ends []int, of *text.Template, err error) {
	dir, err := settings.Locate(t.Base.Name)
	if err != nil {
		return nil, nil, err
	}
	of, err = text.OpenTemplate(dir, t.Template, g.Tokenizer)
	if err != nil && !errors.Is(err, text.ErrNoTemplate) {
		return nil, nil, err
	}
	// An error of the rendering is reported where the template is used.
	ends, _ = answerEnds(context.Background(), g.Tokenizer, g.Ends, g.EndOfText, of, t.Rendering())
	return ends, of, nil
}

// moveBase sets the present folder of the base of a run of attention finetune; "" means that it has not moved. Other
// models have no base.
func (in *Inspection) moveBase(dir string) error {
	if dir != "" && in.Config.Tuning == nil {
		return fmt.Errorf("--base: got %s with the model of %s, want none: it is no run of attention finetune "+
			"and no adapter", dir, in.Dir)
	}
	in.base = dir
	return nil
}

// openTuned returns the model that a run tunes, with adapters as they begin, and its identity.
func (in *Inspection) openTuned(c settings.Config) (m *OpenModel, identity map[string]string, err error) {
	of := *c.Tuning
	of.Base.Name = cmp.Or(in.base, of.Base.Name)
	c.Tuning = &of
	b, err := OpenBase(c)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: tuning: base: %w", in.configPath(), err)
	}
	identity, err = c.ModelIdentity()
	m = &OpenModel{Model: settings.NewDecoder(b.Model), Tokenizer: b.Tokenizer, EndOfText: b.EndOfText, Ends: b.Ends,
		Template: b.Template, base: b}
	return m, identity, err
}
