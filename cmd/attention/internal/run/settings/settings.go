// Package settings makes the config of a run from flags, a config file, a preset and defaults, and makes its model.
package settings

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"strings"

	"attention/internal/config"
	"attention/internal/folder"
	"attention/train/text"

	"github.com/spf13/pflag"
	"gorgonia.org/tensor"
)

// The files of a model's folder that the program reads, and the folder of a run's checkpoints.
const (
	ConfigFile        = "config.json"
	ModelFile         = "model.safetensors"
	CheckpointsFolder = "checkpoints"
)

// Spec is everything in the folder of a GPT or another decoder except the weights.
type Spec struct {
	Model     ModelConfig
	Dtype     tensor.Dtype
	Tokenizer text.Tokenizer // nil if the folder does not name one
}

// Settings are the values from which the config of a new run is made. --lr 0.1 becomes Config.Training.Schedule.Peak in
// four steps:
//
//	flagValues   makes the value 0.1 at the path training.schedule.peak
//	merge        puts it over the values before: preset, folder of --init, file of --config, flags
//	config       reads the result over the defaults into a Config
//	Validate     checks it
type Settings struct {
	flags  *pflag.FlagSet
	init   string // folder of the initial weights; "" if there is none
	values config.Values

	tokenizer *text.SubwordTokenizer // of a file; nil if it is another one
}

// New collects the values of the flags, which CheckFlags accepts, and of the files that they name. spec reads the folder
// of the initial weights.
func New(flags *pflag.FlagSet, spec func(dir string) (Spec, error)) (*Settings, error) {
	s := &Settings{flags: flags, values: config.Values{}}
	preset, err := presetValues(Given(flags, "preset"))
	if err != nil {
		return nil, err
	}
	from, file, err := readFile(Given(flags, "config"))
	if err != nil {
		return nil, err
	}
	init, err := s.initValues(config.Leaves(file, from), spec)
	if err != nil {
		return nil, err
	}
	if s.init != "" { // which has the whole form of the model
		maps.DeleteFunc(preset, func(path string, _ config.Value) bool {
			return strings.HasPrefix(path, "model.") && !isDropout(path)
		})
	}
	for _, v := range []config.Values{preset, init, config.Leaves(file, from)} {
		s.values.Merge(v, replacements)
	}
	given, err := flagValues(flags, Train, s.values)
	if err != nil {
		return nil, err
	}
	if err := s.nameTokenizer(given); err != nil {
		return nil, err
	}
	s.values.Merge(given, replacements)
	of := map[string]string{DatesModel: "translate", EncoderModel: "finetune"}
	if kind := s.values.Text("model.type"); of[kind] != "" {
		var head struct {
			Model struct {
				Type string `json:"type"`
			} `json:"model"`
		}
		return nil, s.Named(config.Errorf(head, "Model.Type", "got %q, that of attention %s, want one of %s, %s, %s",
			kind, of[kind], LayerModel, GPTModel, DecoderModel))
	}
	if err := InPart(from, s.check(file)); err != nil {
		return nil, err
	}
	return s, s.findTokenizer(Given(flags, "config"))
}

// check returns an error for fields in a file that a config does not have, and for values of another type.
func (s *Settings) check(file config.Tree) error {
	if got, ok := file["format"]; ok {
		if err := CheckFormat(got); err != nil {
			return err
		}
	}
	model, schedule := typesOf(s.values)
	if m, ok := file["model"].(config.Tree); ok && m["type"] == nil {
		m["type"] = model
	}
	training, _ := file["training"].(config.Tree)
	if t, ok := training["schedule"].(config.Tree); ok && t["type"] == nil {
		t["type"] = schedule
	}
	return config.DecodeTree(file, new(Config))
}

// typesOf returns the types of the model and the schedule, or else the defaults.
func typesOf(v config.Values) (model, schedule string) {
	return cmp.Or(v.Text("model.type"), LayerModel), cmp.Or(v.Text("training.schedule.type"), cosineSchedule)
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

// config reads the values over the defaults. epochs are the steps of all epochs, if there are any.
func (s *Settings) config(epochs int) (c Config, err error) {
	all, err := config.ValuesOf(defaults(typesOf(s.values)))
	if err != nil {
		return c, err
	}
	all.Merge(s.values, replacements)
	if err := all.Decode(&c); err != nil {
		return c, s.Named(err)
	}
	c.fill(epochs, func(path string) bool {
		_, ok := s.values[path]
		return ok
	})
	return c, nil
}

// Named returns err, about the config of these settings, with the name of the wrong value at its origin: its flag, or
// its path in a file.
func (s *Settings) Named(err error) error {
	if from := s.values.Origin(err); from != "" {
		return InPart(from, err)
	}
	return config.Named(err, flagNames(s.flags, Train))
}

// InPart returns an error about values from a file or another origin: it begins with that.
func InPart(from string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", from, config.JSON(err))
}

// readFile reads the file of --config, and returns how errors name it. Without a path it is empty.
func readFile(path string) (from string, file config.Tree, err error) {
	if path == "" {
		return "", config.Tree{}, nil
	}
	from = "--config: " + path
	contents, err := folder.ReadFile(path, folder.MaxConfig)
	if err != nil {
		want := folder.Want(folder.WithoutPath(err), "a file like a run's "+ConfigFile)
		return from, nil, fmt.Errorf("%s: %w", from, want)
	}
	file, err = config.ParseTree(contents)
	return from, file, InPart(from, err)
}

// initValues returns the form, element type and tokenizer of the model in the folder of --init, or else of a config
// file's initial weights. Dropout belongs to the training and is not included. For a file of weights there are no
// values. A file of weights gives nothing.
func (s *Settings) initValues(file config.Values, spec func(dir string) (Spec, error)) (config.Values, error) {
	name := cmp.Or(Given(s.flags, "init"), file.Text("init.name"))
	kind := cmp.Or(Given(s.flags, "model"), file.Text("model.type"))
	if !IsModel(name) || kind == LayerModel {
		return nil, nil
	}
	of, err := spec(name)
	if err != nil {
		return nil, fmt.Errorf("--init: %w", err)
	}
	s.init = name
	c, paths := Config{Model: of.Model, Dtype: of.Dtype.String()}, []string{"model", "dtype"}
	if of.Tokenizer != nil {
		c.Vocabulary, paths = of.Tokenizer.Config(), modelIdentity
	}
	v, err := config.ValuesOf(c, paths...)
	if err != nil {
		return nil, fmt.Errorf("--init: %w", err)
	}
	maps.DeleteFunc(v, func(path string, _ config.Value) bool { return isDropout(path) })
	for path, value := range v {
		value.From = initOrigin(name)
		v[path] = value
	}
	return v, nil
}

// initOrigin names the folder of --init in errors.
func initOrigin(dir string) string { return "--init: " + dir }

// isDropout reports whether a path names a dropout of a model of blocks.
func isDropout(path string) bool {
	return strings.HasSuffix(path, "_dropout")
}

// IsFolder reports whether initial weights are those of a model's folder, not of a file.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
