package run

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"attention/internal/config"

	"github.com/spf13/pflag"
)

// Settings are the parts that the config of a new run is made of. Of --preset, the folder of --init, --config and the
// flags, in this order, the last one that gives a value counts.
type Settings struct {
	flags  *pflag.FlagSet
	parts  []part
	merged tree // of all parts
}

// NewSettings collects what the flags and the files that they name give.
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
	kind, _ := treeAt(s.merged, "model")["type"].(string)
	all, err := treeOf(defaults(kind))
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

// Named returns an error about the config of these settings that says where the wrong value is from. It calls the value
// by its flag, or by its path if a file gives it.
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
	return config.Named(err, names(s.flags))
}

// filePart returns the values of the file of --config.
func filePart(path string) (part, error) {
	from := "--config: " + path
	text, err := os.ReadFile(path)
	var without *os.PathError // which repeats the path
	if errors.As(err, &without) {
		err = without.Err
	}
	if err != nil {
		return part{}, fmt.Errorf("%s: %w, want a file like a run's %s", from, err, ConfigFile)
	}
	return parsePart(from, text)
}

// initPart returns what the folder of --init, or else of the initial weights of a config file, says of its model: the
// form, but not its dropout, which is the training's. A file of weights says nothing.
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

// formOf returns the values of a model's config that its weights are made for.
func formOf(c ModelConfig) (tree, error) {
	form, err := treeOf(c)
	drop(form, "embd_pdrop", "attn_pdrop", "resid_pdrop")
	drop(treeAt(form, "attention"), "dropout")
	return form, err
}

// CheckForm returns an error that names the flag for which weights of a model do not fit this one.
func (c ModelConfig) CheckForm(weights ModelConfig) error {
	form, err := formOf(c)
	if err != nil {
		return err
	}
	made, err := formOf(weights)
	if err != nil {
		return err
	}
	is, want := leaves(tree{"model": form}), leaves(tree{"model": made})
	for _, f := range flags() {
		for _, path := range f.paths {
			if strings.HasPrefix(path, "model.") && is[path] != want[path] {
				return fmt.Errorf("--%s: got %v, want %v, that of the weights", f.name, orZero(is[path]), orZero(want[path]))
			}
		}
	}
	return nil
}

func orZero(value any) any {
	if value == nil {
		return 0
	}
	return value
}

// Resume gives the config of a run the values of the flags that may stand beside --resume, and refuses others.
func (c *Config) Resume(given *pflag.FlagSet) error {
	var allowed []string
	other := ""
	for _, f := range flags() {
		if f.anew && len(f.paths) > 0 {
			allowed = append(allowed, "--"+f.name)
		}
		if given.Changed(f.name) && !f.anew && other == "" {
			other = f.name
		}
	}
	if other != "" {
		return fmt.Errorf("--%s: got it beside --resume, want only %s: the run's %s says the rest", other, strings.Join(allowed, ", "), ConfigFile)
	}
	t, err := flagTree(given, nil)
	if err == nil {
		err = c.decode(t)
	}
	if err == nil {
		err = c.Validate()
	}
	return config.Named(err, names(given))
}
