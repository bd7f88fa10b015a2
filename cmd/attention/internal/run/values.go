package run

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"attention/internal/config"
)

// values are some of a config's values by their paths in config.json.
type values map[string]value

// A value is one that is no object, or is an empty one, as package json reads it: numbers are of type json.Number.
type value struct {
	json any
	from string // its origin, for errors: a preset, the folder of --init, a file; empty for a flag
}

// A tree is a JSON object as maps, with numbers as json.Number.
type tree = map[string]any

// parse parses a config.json or a part of one. A null counts as absent.
func parse(text []byte) (tree, error) {
	var members map[string]json.RawMessage // strict: also refuses duplicate keys
	if err := config.Foreign.Decode(text, &members); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var t tree
	if err := dec.Decode(&t); err != nil {
		return nil, err
	}
	dropNulls(t)
	return t, nil
}

// dropNulls deletes the null values of a tree.
func dropNulls(t tree) {
	maps.DeleteFunc(t, func(_ string, value any) bool {
		if inner, ok := value.(tree); ok {
			dropNulls(inner)
		}
		return value == nil
	})
}

// values returns the values of the config at or below some paths.
func (c Config) values(paths ...string) (values, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	t, err := parse(text)
	v := leaves(t, "")
	maps.DeleteFunc(v, func(path string, _ value) bool { return !under(path, paths...) })
	return v, err
}

// leaves returns the values of a tree of this origin.
func leaves(t tree, from string) values {
	v := values{}
	for key, member := range t {
		inner, _ := member.(tree)
		for path, below := range leaves(inner, from) {
			v[key+"."+path] = below
		}
		if len(inner) == 0 {
			v[key] = value{member, from}
		}
	}
	return v
}

// decode reads the values into a config. Its errors name JSON paths.
func (v values) decode(c *Config) error {
	t := tree{}
	for _, path := range slices.Sorted(maps.Keys(v)) { // an object before what is in it
		keys := strings.Split(path, ".")
		at, last := t, len(keys)-1
		for _, key := range keys[:last] {
			if _, ok := at[key].(tree); !ok {
				at[key] = tree{}
			}
			at = at[key].(tree)
		}
		at[keys[last]] = v[path].json
		if _, empty := v[path].json.(tree); empty {
			at[keys[last]] = tree{}
		}
	}
	return decode(t, c)
}

func decode(t tree, c *Config) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return config.Decode(text, c)
}

// text returns the value at a path if it is a string.
func (v values) text(path string) string {
	text, _ := v[path].json.(string)
	return text
}

// under reports whether a path is one of some paths or below one. Every path is below "".
func under(path string, paths ...string) bool {
	return slices.ContainsFunc(paths, func(of string) bool {
		return of == "" || path == of || strings.HasPrefix(path, of+".")
	})
}
