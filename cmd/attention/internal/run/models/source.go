package models

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/settings"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/spf13/pflag"
)

// Source is the place of a model.
type Source struct {
	Dir     string // of the model, or of an adapter in PEFT's form, which is opened with its base; "" means the newest run
	Base    string // present folder of the base of an adapter or a tuned run; "": it has not moved
	Adapter string // folder of an adapter in PEFT's form that is added to the model; "" for none
}

// Flags defines the flags except --model.
func (s *Source) Flags(f *pflag.FlagSet) {
	f.StringVar(&s.Base, "base", "",
		"`folder` in which the base of a run of attention finetune, or of an adapter as --model, is now")
	f.StringVar(&s.Adapter, "adapter", "", "`folder` of an adapter in PEFT's form that is added to the model")
}

// Inspect reads the folders, except the weights. If Dir is empty, it uses the newest run whose model is of one of these
// kinds, and prints a note with its name. Its errors name the flags.
func (s Source) Inspect(notes io.Writer, kinds ...string) (in *Inspection, err error) {
	return s.inspect(notes, nil, kinds...)
}

// inspect is Inspect with a condition that the newest run must satisfy.
func (s Source) inspect(notes io.Writer, accept func(*Inspection) error, kinds ...string) (in *Inspection, err error) {
	dir, added := s.Dir, addedAdapter{"--adapter", s.Adapter}
	if dir == "" {
		if dir, err = Newest(notes, accept, kinds...); err != nil {
			return nil, fmt.Errorf("--model: %w", err)
		}
	}
	base := s.Base
	if pretrained.IsAdapter(dir) {
		if s.Adapter != "" {
			return nil, fmt.Errorf("--adapter: got one beside an adapter as --model, %s, want one adapter", dir)
		}
		added = addedAdapter{"--model", dir}
		if dir = base; dir == "" {
			if dir, err = pretrained.AdapterBase(added.dir); err != nil {
				return nil, fmt.Errorf("--model: %w", err)
			}
			if !settings.IsModel(dir) {
				return nil, fmt.Errorf("--model: %s: got an adapter of the model %.200q, which is no folder here, want the "+
					"model's folder with --base", added.dir, dir)
			}
		}
		base = ""
	}
	if in, err = Inspect(dir); err != nil {
		return nil, fmt.Errorf("--model: %w", err)
	}
	if in.added = added; added.dir != "" && in.Config.Tuning != nil {
		return nil, fmt.Errorf("%s: got an adapter of %s, a run of attention finetune, which has its own, want one of its "+
			"base, %s", added.flag, in.Dir, in.Config.Tuning.Base.Name)
	}
	return in, in.moveBase(base)
}

// addedAdapter is a folder of an adapter that is added to a model, and the flag that named it.
type addedAdapter struct{ flag, dir string }

// adapterError is an error about an adapter.
type adapterError struct{ error }

func (e adapterError) Unwrap() error { return e.error }

// add adds the adapter to a model, if there is one, with the template of conversations in its folder.
func (a addedAdapter) add(to *pretrained.GPT) error {
	if a.dir == "" {
		return nil
	}
	if err := to.ReadAdapter(a.dir); err != nil {
		return adapterError{err}
	}
	switch t, err := text.OpenTemplate(a.dir, "", nil); {
	case err == nil:
		to.ChatTemplate = t.Source
	case !errors.Is(err, text.ErrNoTemplate):
		return adapterError{err}
	}
	return nil
}

// Base returns the folder of the model that has an adapter.
func (in *Inspection) Base() string {
	if of := in.Config.Tuning; of != nil {
		return cmp.Or(in.base, of.Base.Name)
	}
	return cmp.Or(in.alias, in.Dir)
}

// Name returns the name of the model: that of its folder, or of the adapter.
func (in *Inspection) Name() string {
	name := cmp.Or(in.alias, Name(in.Dir))
	switch {
	case in.added.dir == "":
		return name
	case in.added.flag == "--model":
		return Name(in.added.dir)
	}
	return name + " + " + Name(in.added.dir)
}

// Named returns an error about opening the model with the flag that named the folder.
func (in *Inspection) Named(err error) error {
	flag := "--model"
	if _, ok := errors.AsType[adapterError](err); ok {
		flag = in.added.flag
	}
	return fmt.Errorf("%s: %w", flag, err)
}

// errAdapter returns the error about the folder of an adapter where a whole model is wanted.
func errAdapter(dir string) error {
	return fmt.Errorf("%s: got an adapter in PEFT's form, want a whole model; to make one of it and its base: %s", dir,
		program.Command("export", "--model", dir, "--format", "huggingface", "--out", "DIR"))
}
