package apply

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
)

const (
	maxConfigBytes = 1 << 20       // a layer.json is a few lines
	maxSize        = math.MaxInt32 // of a field; products of two then fit an int
	maxHeads       = 1 << 16       // each head of the wrapper is a layer of its own
)

// readLayer reads a layer.json. Errors name the file and the field.
func readLayer(path string) (*layer, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxConfigBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxConfigBytes {
		return nil, fmt.Errorf("%s: more than %d bytes, want one small JSON object", path, maxConfigBytes)
	}
	fields, err := parseConfig(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	layer, err := newLayer(fields)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return layer, nil
}

// configFields are the fields of a JSON object, to be taken one by one. The first
// error is kept for end.
//
// Decoding into a struct would not do: it lets a name that comes twice, a name in
// another case and a null pass.
type configFields struct {
	values map[string]json.RawMessage // not taken yet
	known  []string                   // names asked for so far
	err    error
}

// parseConfig takes apart the one JSON object that text must be.
func parseConfig(text []byte) (*configFields, error) {
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, fmt.Errorf("not JSON: %w, want one JSON object", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, fmt.Errorf("got %.40s, want a JSON object", whole)
	}
	f := &configFields{values: map[string]json.RawMessage{}}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name := key.(string) // JSON has no other keys
		if _, ok := f.values[name]; ok {
			return nil, fmt.Errorf("field %.100q comes twice", name)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		f.values[name] = value
	}
	return f, nil
}

// take decodes a field into to and reports whether the config has it.
func (f *configFields) take(name string, to any, want string) bool {
	f.known = append(f.known, name)
	value, ok := f.values[name]
	if !ok {
		return false
	}
	delete(f.values, name)
	if string(value) == "null" || json.Unmarshal(value, to) != nil {
		f.fail("%s: got %.60s, want %s", name, value, want)
	}
	return true
}

// size takes a whole number from least to most. A field that is not there is 0.
func (f *configFields) size(name string, to *int, least, most int) {
	want := fmt.Sprintf("a whole number from %d to %d", least, most)
	switch given := f.take(name, to, want); {
	case given && (*to < least || *to > most):
		f.fail("%s: got %d, want %s", name, *to, want)
	case !given && least > 0:
		f.fail("%s: missing, want %s", name, want)
	}
}

// flag takes a boolean, false if it is not there.
func (f *configFields) flag(name string, to *bool) { f.take(name, to, "true or false") }

// number takes a number that is in order, and leaves to as it is if there is none.
func (f *configFields) number(name string, to *float64, want string, inOrder func(x float64) bool) {
	if f.take(name, to, want) && !inOrder(*to) {
		f.fail("%s: got %v, want %s", name, *to, want)
	}
}

// probability takes a number in [0, 1), 0 if it is not there.
func (f *configFields) probability(name string, to *float64) {
	f.number(name, to, "a number p with 0 <= p < 1", func(p float64) bool { return p >= 0 && p < 1 })
}

// choice takes one of some words and reports whether the config has the field.
func (f *configFields) choice(name string, to *string, words ...string) bool {
	want := "one of " + strings.Join(words, ", ")
	given := f.take(name, to, want)
	if given && !slices.Contains(words, *to) {
		f.fail("%s: got %.60q, want %s", name, *to, want)
	}
	return given
}

// object takes a JSON object, whose own fields read takes, and reports whether the config has it.
func (f *configFields) object(name string, read func(*configFields)) bool {
	var text json.RawMessage
	if !f.take(name, &text, "a JSON object") {
		return false
	}
	fields, err := parseConfig(text)
	if err == nil {
		read(fields)
		err = fields.end(name)
	}
	if err != nil {
		f.fail("%s: %w", name, err)
	}
	return true
}

func (f *configFields) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// end is the error that names all fields nobody asked for, since one of them may be
// a missing field misspelt, or else the first error of the fields taken.
func (f *configFields) end(whose string) error {
	if len(f.values) == 0 {
		return f.err
	}
	unknown := quotedList(slices.Sorted(maps.Keys(f.values)))
	return errors.New("unknown field " + unknown + "; " + whose + " has " + strings.Join(f.known, ", "))
}
