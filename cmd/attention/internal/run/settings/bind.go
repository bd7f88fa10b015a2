package settings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"attention/internal/config"
	"attention/train"
	"attention/train/text"

	"github.com/spf13/pflag"
)

// AddFlags declares the flags of a command. Those whose default depends on other values are 0.
func AddFlags(to *pflag.FlagSet, command string) {
	to.SortFlags = false
	configs := []Config{defaultsOf(command, LayerModel, cosineSchedule), defaultsOf(command, GPTModel, cosineSchedule),
		defaultsOf(command, DecoderModel, cosineSchedule)}
	for _, f := range flagsOf(command) {
		if f.name == targetsFlag || f.name == wholeFlag {
			to.StringSlice(f.name, nil, f.usage)
			continue
		}
		switch usual := f.defaultIn(configs).(type) {
		case bool:
			to.Bool(f.name, usual, f.usage)
		case *bool: // nil means true
			to.Bool(f.name, true, f.usage)
		case float64:
			to.Float64(f.name, usual, f.usage)
		case int:
			to.Int64(f.name, int64(usual), f.usage)
		case int64:
			to.Int64(f.name, usual, f.usage)
		case []string, []train.ParamGroup, []text.GrowthStage: // given several times
			to.StringArray(f.name, nil, f.usage)
		default: // a string, or a type whose text is one
			to.String(f.name, fmt.Sprint(usual), f.usage)
		}
	}
}

// defaultIn returns the default of a flag: its field in the first of the configs that has it.
func (f flag) defaultIn(configs []Config) any {
	for _, path := range f.paths {
		for _, c := range configs {
			if value, ok := c.field(path); ok {
				return value
			}
		}
	}
	return cmp.Or[any](f.usual, "")
}

// field returns the value of the field at a path. The fields of a config depend on its model and its schedule.
func (c Config) field(path string) (value any, ok bool) {
	if path == "model.type" { // of the union, which is not a field of the model
		return c.Model.Type(), true
	}
	if path == "training.schedule.type" {
		return cosineSchedule, true
	}
	if path, ok := strings.CutPrefix(path, "model."); ok {
		return config.At(c.Model.value(), path)
	}
	if path, ok := strings.CutPrefix(path, "training.schedule."); ok {
		return config.At(c.Training.Schedule.Schedule, path)
	}
	return config.At(c, path)
}

// CheckFlags returns an error for a flag of a command whose value no field accepts, or that --resume does not allow.
func CheckFlags(set *pflag.FlagSet, command string) (err error) {
	set.Visit(func(f *pflag.Flag) {
		if err != nil {
			return
		}
		_, err = jsonOf(f)
	})
	return cmp.Or(err, checkResumed(set, command))
}

// jsonOf returns the value of a flag as package json reads it, or an error for one that no field accepts.
func jsonOf(f *pflag.Flag) (any, error) {
	text := f.Value.String()
	switch f.Value.Type() {
	case "bool":
		return text == "true", nil
	case "float64":
		if x, err := strconv.ParseFloat(text, 64); err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("--%s: got %s, want a finite number", f.Name, text)
		}
		return json.Number(text), nil
	case "int64":
		return json.Number(text), nil
	case "stringArray", "stringSlice":
		return listOf(f)
	}
	if f.Name == "text" {
		return textName(text), checkString(f, text)
	}
	return text, checkString(f, text)
}

// listOf returns the values of a flag that may be given several times.
func listOf(f *pflag.Flag) (any, error) {
	all := []any{}
	for _, text := range f.Value.(pflag.SliceValue).GetSlice() {
		if err := checkString(f, text); err != nil {
			return nil, err
		}
		if f.Name == growthFlag && text == noGrowth {
			continue
		}
		value, err := elementOf(f.Name, text)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", f.Name, err)
		}
		all = append(all, value)
	}
	return all, nil
}

// elementOf returns one value of a flag that may be given several times.
func elementOf(flag, text string) (any, error) {
	switch flag {
	case groupFlag:
		return parseGroup(text)
	case growthFlag:
		return parseStage(text)
	}
	return text, nil
}

// checkString returns an error for a value that is empty or no text.
func checkString(f *pflag.Flag, text string) error {
	if text == "" {
		what, _ := pflag.UnquoteUsage(f)
		return fmt.Errorf("--%s: got nothing, want the %s", f.Name, what)
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("--%s: got %q, want UTF-8", f.Name, text)
	}
	return nil
}

// Given returns the value of a flag, or "" if it is not given.
func Given(set *pflag.FlagSet, name string) string {
	if !set.Changed(name) {
		return ""
	}
	return set.Lookup(name).Value.String()
}

// flagValues returns the values of the given flags of a command, for a config whose model and schedule are of the types of other
// values.
func flagValues(set *pflag.FlagSet, command string, of config.Values) (config.Values, error) {
	model, schedule := typesOf(of)
	if command == Train {
		model, schedule = cmp.Or(Given(set, "model"), model), cmp.Or(Given(set, "schedule"), schedule)
	}
	c := defaultsOf(command, model, schedule)
	v := config.Values{}
	for _, f := range flagsOf(command) {
		if !set.Changed(f.name) {
			continue
		}
		given, err := jsonOf(set.Lookup(f.name))
		if err != nil {
			return nil, err
		}
		found := len(f.paths) == 0
		for _, path := range f.paths {
			if _, ok := c.field(path); ok && (f.name != "dropout" || model != DecoderModel) { // whose blocks have theirs
				v[path] = config.Value{JSON: given}
				found = true
			}
		}
		if !found && model == c.Model.Type() { // the type of an unknown model is an error of its own
			return nil, f.misplaced(model, schedule)
		}
	}
	return v, nil
}

// misplaced returns the error about a flag that has no field in a model and a schedule of these types. The constant
// schedule has no flags of its own.
func (f flag) misplaced(model, schedule string) error {
	with, want := "--model "+model, "--model "+GPTModel
	switch {
	case !strings.HasPrefix(f.paths[0], "model."):
		with, want = "--schedule "+schedule, "--schedule "+cosineSchedule+" and "+wsdSchedule
	case model == GPTModel:
		want = "--model " + LayerModel
	}
	return fmt.Errorf("--%s: got it with %s, want it with %s only", f.name, with, want)
}

// flagNames maps the paths of fields to the flags of a command that set them; of several flags, the one given last.
func flagNames(set *pflag.FlagSet, command string) map[string]string {
	names := map[string]string{}
	for _, f := range flagsOf(command) {
		for _, path := range f.paths {
			if names[path] == "" || set.Changed(f.name) {
				names[path] = "--" + f.name
			}
		}
	}
	for key, from := range follows {
		names["model.attention."+key] = names["model."+from]
	}
	return names
}
