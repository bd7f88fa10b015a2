package run

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"attention/internal/config"

	"github.com/spf13/pflag"
)

// Settings are the parts that the config of a new run is built from: --preset, the folder of --init, --config and the
// flags. A later one overrides those before it.
type Settings struct {
	flags  *pflag.FlagSet
	parts  []part
	merged tree // of all parts
}

// NewSettings collects the values of the flags and of the files that they name.
func NewSettings(flags *pflag.FlagSet) (*Settings, error) {
	s := &Settings{flags: flags, merged: tree{}}
	if flags.Changed("preset") {
		p, err := presetPart(flags.Lookup("preset").Value.String())
		if err != nil {
			return nil, err
		}
		s.add(p)
	}
	var file part
	if flags.Changed("config") {
		var err error
		if file, err = filePart(flags.Lookup("config").Value.String()); err != nil {
			return nil, err
		}
	}
	init, err := initPart(flags, file.values)
	if err != nil {
		return nil, err
	}
	s.add(init)
	s.add(file)
	given, err := flagTree(flags, s.merged)
	s.add(part{values: given})
	return s, err
}

func (s *Settings) add(p part) {
	s.parts = append(s.parts, p)
	merge(s.merged, p.values)
}

// Config returns the config of a run that has not read its text: the values of the parts, and defaults.
func (s *Settings) Config() (c Config, err error) {
	all, err := treeOf(defaults(typesOf(s.merged)))
	if err != nil {
		return c, err
	}
	merge(all, s.merged)
	if err := c.decode(all); err != nil {
		return c, s.Named(err)
	}
	c.fill(func(path string) bool {
		_, ok := at(s.merged, path)
		return ok
	})
	return c, s.Named(c.validateBeforeText())
}

// Named returns err, about the config of these settings, with the name of the wrong value at its origin: its flag, or
// its path in a file.
func (s *Settings) Named(err error) error {
	var wrong *config.Error
	if !errors.As(err, &wrong) {
		return err
	}
	for _, p := range slices.Backward(s.parts) {
		if _, ok := at(p.values, wrong.Path()); ok && p.from != "" {
			return inPart(p.from, err)
		} else if ok {
			break
		}
	}
	return config.Named(err, flagNames(s.flags))
}

// filePart returns the values of the file of --config.
func filePart(path string) (part, error) {
	from := "--config: " + path
	text, err := os.ReadFile(path)
	var without *os.PathError // its message repeats the path
	if errors.As(err, &without) {
		err = without.Err
	}
	if err != nil {
		return part{}, fmt.Errorf("%s: %w, want a file like a run's %s", from, err, ConfigFile)
	}
	return parsePart(from, text)
}

// initPart returns the form, element type and tokenizer of the model in the folder of --init, or else of a config
// file's initial weights. Dropout is the training's and not part of it. A file of weights gives nothing.
func initPart(flags *pflag.FlagSet, file tree) (part, error) {
	name, _ := treeAt(file, "init")["name"].(string)
	kind, _ := treeAt(file, "model")["type"].(string)
	if flags.Changed("init") {
		name = flags.Lookup("init").Value.String()
	}
	if flags.Changed("model") {
		kind = flags.Lookup("model").Value.String()
	}
	if !IsFolder(name) || kind != "" && kind != GPTModel {
		return part{}, nil
	}
	spec, err := ModelFolders().ReadSpec(name)
	if err := CheckFinished(name, err); err != nil {
		return part{}, fmt.Errorf("--init: %w", err)
	}
	form, err := formOf(ModelConfig{GPT: &spec.Config})
	if err != nil {
		return part{}, err
	}
	t := tree{"model": form, "dtype": spec.Dtype.String()}
	if spec.Tokenizer != nil {
		c := spec.Tokenizer.Config()
		t["vocabulary"] = tree{"tokenizer": c.Name, "characters": c.Characters}
	}
	return part{"--init: " + name, t}, nil
}

// IsFolder reports whether initial weights are those of a model's folder, not of a file.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
