package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// Values holds some of a config's values by their JSON paths, such as training.steps.
type Values map[string]Value

// A Value is any value except an object with members, in the form of package json with numbers of type json.Number.
type Value struct {
	JSON any
	From string // its origin, for errors: a file or a preset; empty if Origin should not name it
}

// A Tree is a JSON object as maps, with numbers as json.Number.
type Tree = map[string]any

// ParseTree reads a JSON object. A null counts as absent.
func ParseTree(text []byte) (Tree, error) {
	var members map[string]json.RawMessage // strict: also refuses duplicate keys
	if err := Foreign.Decode(text, &members); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var t Tree
	if err := dec.Decode(&t); err != nil {
		return nil, err
	}
	dropNulls(t)
	return t, nil
}

// dropNulls deletes the null values of a tree.
func dropNulls(t Tree) {
	maps.DeleteFunc(t, func(_ string, value any) bool {
		if inner, ok := value.(Tree); ok {
			dropNulls(inner)
		}
		return value == nil
	})
}

// DecodeTree is Decode of the text of a tree.
func DecodeTree(t Tree, to any) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return Decode(text, to)
}

// Leaves returns the values of a tree of this origin.
func Leaves(t Tree, from string) Values {
	v := Values{}
	for key, member := range t {
		inner, _ := member.(Tree)
		for path, below := range Leaves(inner, from) {
			v[key+"."+path] = below
		}
		if len(inner) == 0 {
			v[key] = Value{member, from}
		}
	}
	return v
}

// ValuesOf returns the values of config c at or below some paths; without any path, all of them.
func ValuesOf(c any, paths ...string) (Values, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	t, err := ParseTree(text)
	v := Leaves(t, "")
	maps.DeleteFunc(v, func(path string, _ Value) bool { return len(paths) > 0 && !under(path, paths) })
	return v, err
}

// Decode reads the values into a config. Its errors name JSON paths.
func (v Values) Decode(to any) error {
	t := Tree{}
	for _, path := range slices.Sorted(maps.Keys(v)) { // an object before its members
		keys := strings.Split(path, ".")
		at, last := t, len(keys)-1
		for _, key := range keys[:last] {
			if _, ok := at[key].(Tree); !ok {
				at[key] = Tree{}
			}
			at = at[key].(Tree)
		}
		at[keys[last]] = v[path].JSON
		if _, empty := v[path].JSON.(Tree); empty {
			at[keys[last]] = Tree{}
		}
	}
	return DecodeTree(t, to)
}

// Text returns the value at a path if it is a string.
func (v Values) Text(path string) string {
	text, _ := v[path].JSON.(string)
	return text
}

// A Replacement is a value that replaces others: those at or below the paths in Old.
type Replacement struct {
	Path  string
	Equal bool // whether it replaces them even if it equals the value before
	Old   []string
}

// Merge writes the values of over at their paths, and removes the values that they replace.
func (v Values) Merge(over Values, replace []Replacement) {
	for _, r := range replace {
		before, there := v[r.Path]
		after, given := over[r.Path]
		if given && (r.Equal || there && before.JSON != after.JSON) {
			maps.DeleteFunc(v, func(path string, _ Value) bool { return under(path, r.Old) })
		}
	}
	maps.Copy(v, over)
}

// Origin returns the origin of the first value that an error is about. The error must be about the config of all
// values.
func (v Values) Origin(err error) string {
	var wrong *Error
	if !errors.As(err, &wrong) {
		return ""
	}
	subject, _, _ := strings.Cut(wrong.Path(), "[") // of the list, if it is about an element
	for _, path := range slices.Sorted(maps.Keys(v)) {
		if from := v[path].From; from != "" && subject != "" && under(path, []string{subject}) {
			return from
		}
	}
	return ""
}

// under reports whether a path is one of some paths or below one.
func under(path string, paths []string) bool {
	return slices.ContainsFunc(paths, func(of string) bool { return path == of || strings.HasPrefix(path, of+".") })
}
