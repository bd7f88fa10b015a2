package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/internal/config"
	"attention/internal/folder"
	"attention/layers"
	"attention/train/pretrained"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// Tuning is the part of the config of a run of attention finetune that one of attention train has not. The Text of such
// a run are its examples, and a Batch is of packed rows.
type Tuning struct {
	Base           TextSource         `json:"base"`               // the folder of the model to tune
	Valid          *TextSource        `json:"valid,omitempty"`    // the held-out examples; nil for none
	LoRA           *layers.LoRAConfig `json:"lora,omitempty"`     // nil if the whole model is trained
	Context        int                `json:"context"`            // tokens of a row
	Long           string             `json:"long"`               // text.PackConfig.Long
	Template       string             `json:"template,omitempty"` // a name or the source of one; "" for the base's
	TrainOnPrompts bool               `json:"train_on_prompts,omitempty"`
	Classes        []string           `json:"classes,omitempty"`  // of texts, if those are learned
	Thinking       bool               `json:"thinking,omitempty"` // the examples have thoughts, and templates ask for them
	Date           time.Time          `json:"date,omitzero"`      // when the run began, for templates that write a date
}

// Validate returns an error for the first wrong field.
func (t *Tuning) Validate() error {
	if t == nil {
		return nil
	}
	err := cmp.Or(config.AtLeast(*t, 2, "Context"), config.OneOf(*t, "Long", t.Long, text.CutLong, text.SkipLong))
	if err == nil && t.LoRA != nil {
		err = config.In(*t, "LoRA", t.LoRA.Validate())
	}
	return err
}

// rowLength returns the tokens of a row of a batch.
func (c Config) rowLength() int {
	if c.Tuning != nil {
		return c.Tuning.Context
	}
	return c.Model.Context()
}

// SourceOf returns the size and checksum of a file, or of the config and the weights in a model's folder.
func SourceOf(path string) (TextSource, error) {
	names := []string{path}
	if IsFolder(path) {
		found, err := folder.Names(path)
		if err != nil {
			return TextSource{}, err
		}
		names = []string{filepath.Join(path, ConfigFile)}
		for _, name := range found {
			if filepath.Ext(name) == ".safetensors" {
				names = append(names, filepath.Join(path, name))
			}
		}
	}
	size, sum, err := folder.Sum(names...)
	return TextSource{Name: path, Bytes: size, SHA256: sum}, err
}

// Same reads a source again, and returns an error if it is not the same.
func (s TextSource) Same() error {
	now, err := SourceOf(s.Name)
	if err == nil && now.SHA256 != s.SHA256 {
		err = fmt.Errorf("%s: got files with SHA-256 %s, want %s, those that the run began with", s.Name,
			now.SHA256, s.SHA256)
	}
	return err
}

// Base is the model that a run tunes, with its adapters.
type Base struct {
	*pretrained.GPT
	Template   *text.Template     // of conversations; nil if there is none
	Classifier *layers.Classifier // nil if no classes are learned
	tuning     *Tuning
}

// scoreName is the parameter of a classifier.
const scoreName = "score.weight"

// OpenBase reads the model that a run tunes, with adapters as they begin. The files must be those that the run began
// with, if their checksum is known.
func (c Config) OpenBase() (b *Base, err error) {
	of := c.Tuning
	in, err := Inspect(of.Base.Name)
	if err == nil && of.Base.SHA256 != "" {
		err = of.Base.Same()
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; if the base has moved, give its path with --base", err)
	}
	if err != nil {
		return nil, err
	}
	if in.Config.Tuning != nil {
		return nil, in.errTuned("the whole model")
	}
	b = &Base{tuning: of}
	if b.GPT, err = in.GPT(); err != nil {
		return nil, err
	}
	if b.Tokenizer == nil {
		return nil, fmt.Errorf("%s: got a model without a tokenizer, want one with its %s", in.Dir, TokenizerFile)
	}
	if err := c.adapt(b); err != nil {
		return nil, err
	}
	b.Ends, b.Template, err = of.OpenTemplate(b.GPT)
	return b, err
}

// adapt adds to a base what is trained beside it.
func (c Config) adapt(b *Base) (err error) {
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
func (c Config) CopyBase(b *Base) (*OpenModel, error) {
	p := layers.NewStoredParams(b.Params.Dtype())
	m, err := layers.NewDecoder(p.Scope(""), b.Model.Config())
	if err != nil {
		return nil, err
	}
	if err := c.adapt(&Base{GPT: &pretrained.GPT{Model: m, Params: p}}); err != nil {
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
	return &OpenModel{Model: NewDecoder(m), Tokenizer: b.Tokenizer, EndOfText: b.EndOfText, Ends: b.Ends}, nil
}

// errTuned returns the error about a run of attention finetune where another model is wanted.
func (in *Inspection) errTuned(want string) error {
	return fmt.Errorf("%s: got a run of attention finetune, want %s; write it with: %s", in.Dir, want,
		program.Command("export", "--model", in.Dir, "--format", "huggingface", "--out", "DIR"))
}

// OpenTemplate returns the template of a run's conversations with a model, nil if there is none, and the ids that end
// an answer.
func (t *Tuning) OpenTemplate(g *pretrained.GPT) (ends []int, of *text.Template, err error) {
	of, err = text.TemplateFor(t.Base.Name, t.Template, g.Tokenizer)
	if err != nil && !errors.Is(err, text.ErrNoTemplate) {
		return nil, nil, err
	}
	// An error of the rendering is reported where the template is used.
	ends, _ = answerEnds(context.Background(), g.Tokenizer, g.Ends, g.EndOfText, of, t.Rendering())
	return ends, of, nil
}

// moveBase says where the base of a run of attention finetune is now; "" means where it was. Another model has none.
func (in *Inspection) moveBase(dir string) error {
	if dir != "" && in.Config.Tuning == nil {
		return fmt.Errorf("--base: got %s with the model of %s, want none: it is no run of attention finetune "+
			"and no adapter", dir, in.Dir)
	}
	in.base = dir
	return nil
}

// openTuned returns the model that a run tunes, with adapters as they begin, and its identity.
func (in *Inspection) openTuned(c Config) (m *OpenModel, identity map[string]string, err error) {
	of := *c.Tuning
	of.Base.Name = cmp.Or(in.base, of.Base.Name)
	c.Tuning = &of
	b, err := c.OpenBase()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: tuning: base: %w", in.configPath(), err)
	}
	identity, err = c.ModelIdentity()
	m = &OpenModel{Model: NewDecoder(b.Model), Tokenizer: b.Tokenizer, EndOfText: b.EndOfText, Ends: b.Ends,
		Template: b.Template, base: b}
	return m, identity, err
}
