package run

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

// AddFlags declares the flags of attention train. Those whose default depends on other values are 0.
func AddFlags(to *pflag.FlagSet) {
	to.SortFlags = false
	for _, f := range flags() {
		switch {
		case f.takes("true"):
			to.Bool(f.name, false, f.usage)
		case f.takes("0.5"):
			to.Float64(f.name, 0, f.usage)
		case f.takes("1"):
			to.Int64(f.name, 0, f.usage)
		default:
			to.String(f.name, "", f.usage)
		}
		if usual := f.usual(); usual != nil {
			declared := to.Lookup(f.name)
			_ = declared.Value.Set(fmt.Sprint(usual)) // usual has the type of the flag
			declared.DefValue = declared.Value.String()
		}
	}
}

// usual returns the default of a flag.
func (f flag) usual() any {
	if len(f.paths) == 0 || f.name == "text" { // the built-in text is no file
		return nil
	}
	_, kind := unionOf(f.paths[0])
	t, _ := treeOf(defaults(kind)) // defaults always marshal
	value, _ := at(t, f.paths[0])
	return value
}

// takes reports whether the values that a flag sets can have this JSON.
func (f flag) takes(text string) bool {
	if len(f.paths) == 0 {
		return false
	}
	t := tree{}
	setAt(t, f.paths[0], json.RawMessage(text))
	nameTypes(t)
	return new(Config).decode(t) == nil
}

// unionOf returns the path and the type of the model or schedule that a value is part of. Other values have neither.
func unionOf(path string) (union, kind string) {
	t := tree{}
	setAt(t, path, "")
	nameTypes(t)
	for _, union := range []string{"model", "training.schedule"} {
		if kind, ok := treeAt(t, union)["type"].(string); ok && path != union+".type" {
			return union, kind
		}
	}
	return "", ""
}

// flagTree returns the values of the flags that are given, for a model and a schedule of the types of a tree.
func flagTree(given *pflag.FlagSet, of tree) (tree, error) {
	types := map[string]string{"model": LayerModel, "training.schedule": "cosine"}
	for union := range types {
		if name, ok := treeAt(of, union)["type"].(string); ok {
			types[union] = name
		}
	}
	if given.Changed("model") {
		types["model"] = given.Lookup("model").Value.String()
	}
	t := tree{}
	for _, f := range flags() {
		if !given.Changed(f.name) {
			continue
		}
		value, err := valueOf(given.Lookup(f.name))
		if err != nil {
			return nil, err
		}
		if err := f.set(t, value, types); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// set stores the value of a flag at its path in a model and a schedule of the types.
func (f flag) set(t tree, value any, types map[string]string) (err error) {
	found := len(f.paths) == 0
	for _, path := range f.paths {
		union, want := unionOf(path)
		if got := types[union]; got != want {
			with := map[string]string{"model": "--model", "training.schedule": "a schedule of type"}[union]
			err = fmt.Errorf("--%s: got it with %s %s, want it with %[2]s %[4]s only", f.name, with, got, want)
			continue
		}
		setAt(t, path, value)
		found = true
	}
	if found {
		return nil
	}
	return err
}

// CheckFlags returns an error for a flag whose value no field accepts.
func CheckFlags(given *pflag.FlagSet) (err error) {
	given.Visit(func(f *pflag.Flag) {
		if _, wrong := valueOf(f); err == nil {
			err = wrong
		}
	})
	return err
}

// valueOf returns the value of a flag as it stands in a tree.
func valueOf(f *pflag.Flag) (any, error) {
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
	}
	switch what, _ := pflag.UnquoteUsage(f); {
	case text == "":
		return nil, fmt.Errorf("--%s: got nothing, want the %s", f.Name, what)
	case !utf8.ValidString(text):
		return nil, fmt.Errorf("--%s: got %q, want UTF-8", f.Name, text)
	case f.Name == "text":
		return textName(text), nil
	}
	return text, nil
}

// names returns the name of the value at a path: its flag, the last given one if there are several.
func names(given *pflag.FlagSet) func(path string) (string, bool) {
	return func(path string) (name string, ok bool) {
		if from, ok := follows[strings.TrimPrefix(path, "model.attention.")]; ok {
			path = "model." + from
		}
		for _, f := range flags() {
			for _, p := range f.paths {
				if p == path && (!ok || given.Changed(f.name)) {
					name, ok = "--"+f.name, true
				}
			}
		}
		return name, ok
	}
}
