package run

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"attention/internal/config"
	"attention/internal/folder"

	"github.com/spf13/pflag"
)

// Settings are the parts that the config of a new run is made of. A part is a tree of JSON with some of the config's
// values. --lr 0.1 becomes Config.Training.Schedule.Peak in four steps:
//
//	flagTree     makes the part {"training": {"schedule": {"peak": 0.1}}}
//	merge        puts each part over those before it: preset, folder of --init, file of --config, flags
//	Config       reads the result over the defaults into a Config
//	Validate     checks it
type Settings struct {
	flags  *pflag.FlagSet
	init   *Inspection // the folder of the initial weights; nil without one
	parts  []part
	merged tree
}

// NewSettings collects the values of the flags, which CheckFlags accepts, and of the files that they name.
func NewSettings(flags *pflag.FlagSet) (*Settings, error) {
	s := &Settings{flags: flags, merged: tree{}}
	preset, err := presetPart(Given(flags, "preset"))
	if err != nil {
		return nil, err
	}
	file, err := filePart(Given(flags, "config"))
	if err != nil {
		return nil, err
	}
	init, err := s.initPart(file.values)
	if err != nil {
		return nil, err
	}
	s.add(preset, init, file)
	values, err := flagTree(flags, s.merged)
	if err != nil {
		return nil, err
	}
	s.add(part{values: values})
	return s, file.check(typesOf(s.merged))
}

// Init returns what is in the folder of the initial weights; nil without one.
func (s *Settings) Init() *Inspection { return s.init }

func (s *Settings) add(parts ...part) {
	for _, p := range parts {
		s.parts = append(s.parts, p)
		merge(s.merged, p.values)
	}
}

// Config returns the config of a run that has not read its text: the values of the parts, and defaults.
func (s *Settings) Config() (c Config, err error) {
	if c, err = s.config(1); err != nil {
		return c, err
	}
	return c, s.Named(c.validateBeforeText())
}

// WithText returns the config of a run on a text.
func (s *Settings) WithText(k *Corpus) (Config, error) {
	c, err := s.config(1)
	if err != nil {
		return c, err
	}
	if c.Epochs > 0 {
		steps, err := c.epochSteps(k)
		if err != nil {
			return c, s.Named(err)
		}
		if c, err = s.config(steps); err != nil {
			return c, err
		}
	}
	c, err = c.withText(k)
	return c, s.Named(err)
}

// config merges the parts over the defaults. epochs are the steps of all epochs, if there are any.
func (s *Settings) config(epochs int) (c Config, err error) {
	all, err := treeOf(defaults(typesOf(s.merged)))
	if err != nil {
		return c, err
	}
	merge(all, s.merged)
	if err := c.decode(all); err != nil {
		return c, s.Named(err)
	}
	c.fill(epochs, func(path string) bool {
		_, ok := at(s.merged, path)
		return ok
	})
	return c, nil
}

// Named returns err, about the config of these settings, with the name of the wrong value at its origin: its flag, or
// its path in a file.
func (s *Settings) Named(err error) error {
	var wrong *config.Error
	if !errors.As(err, &wrong) {
		return err
	}
	path, _, _ := strings.Cut(wrong.Path(), "[") // of the list, if it is about an element
	for _, p := range slices.Backward(s.parts) {
		if _, ok := at(p.values, path); ok && p.from != "" {
			return inPart(p.from, err)
		} else if ok {
			break
		}
	}
	return config.Named(err, flagNames(s.flags))
}

// filePart returns the values of the file of --config, or none without a path.
func filePart(path string) (part, error) {
	if path == "" {
		return part{}, nil
	}
	from := "--config: " + path
	text, err := folder.ReadFile(path, folder.MaxConfig)
	if err != nil {
		return part{}, fmt.Errorf("%s: %w", from, folder.Want(folder.WithoutPath(err), "a file like a run's "+ConfigFile))
	}
	return parsePart(from, text)
}

// initPart returns the form, element type and tokenizer of the model in the folder of --init, or else of a config
// file's initial weights. Dropout is the training's and not part of it. A file of weights gives nothing.
func (s *Settings) initPart(file tree) (part, error) {
	name, _ := treeAt(file, "init")["name"].(string)
	kind, _ := treeAt(file, "model")["type"].(string)
	name, kind = cmp.Or(Given(s.flags, "init"), name), cmp.Or(Given(s.flags, "model"), kind)
	if !IsFolder(name) || kind != "" && kind != GPTModel {
		return part{}, nil
	}
	t, err := s.inspectInit(name)
	if err != nil {
		return part{}, fmt.Errorf("--init: %w", err)
	}
	return part{"--init: " + name, t}, nil
}

func (s *Settings) inspectInit(dir string) (t tree, err error) {
	if s.init, err = Inspect(dir); err != nil {
		return nil, err
	}
	spec, err := s.init.Spec()
	if err != nil {
		return nil, err
	}
	model, err := treeOf(ModelConfig{GPT: &spec.Config})
	if err != nil {
		return nil, err
	}
	drop(model, "embd_pdrop", "attn_pdrop", "resid_pdrop")
	t = tree{"model": model, "dtype": spec.Dtype.String()}
	if spec.Tokenizer != nil {
		c := spec.Tokenizer.Config()
		t["vocabulary"] = tree{"tokenizer": c.Name, "characters": c.Characters}
	}
	return t, nil
}

// IsFolder reports whether initial weights are those of a model's folder, not of a file.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
