package text

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// jsonReader reads the text of a tokenizer.json. Strings share the memory of the text where possible.
type jsonReader struct {
	*jsontext.Decoder
	text string
}

func newJSONReader(text string) jsonReader {
	return jsonReader{jsontext.NewDecoder(bytes.NewBuffer([]byte(text)), jsontext.AllowDuplicateNames(true)), text}
}

// string reads a string.
func (r jsonReader) string() (string, error) {
	value, err := r.ReadValue()
	if err != nil {
		return "", err
	}
	if value.Kind() != '"' {
		return "", fmt.Errorf("got %.100s at byte %d, want a string", value, int(r.InputOffset())-len(value))
	}
	if bytes.IndexByte(value, '\\') >= 0 {
		unquoted, err := jsontext.AppendUnquote(nil, value)
		return string(unquoted), err
	}
	end := int(r.InputOffset())
	return r.text[end-len(value)+1 : end-1], nil
}

// open reads the beginning of an object or a list.
func (r jsonReader) open(kind jsontext.Kind, want string) error {
	if got := r.PeekKind(); got != kind && got > 0 {
		return fmt.Errorf("got %v at byte %d, want %s", got, r.InputOffset(), want)
	}
	_, err := r.ReadToken()
	return err
}

// members reads an object.
func (r jsonReader) members(member func(name string) error) error {
	if err := r.open('{', "an object"); err != nil {
		return err
	}
	for r.PeekKind() == '"' {
		name, err := r.string()
		if err != nil {
			return err
		}
		if err := member(name); err != nil {
			return err
		}
	}
	_, err := r.ReadToken()
	return err
}

// fields reads an object whose members have names, each at most once.
func (r jsonReader) fields(read map[string]func() error) error {
	seen := map[string]bool{}
	return r.members(func(name string) error {
		field, ok := read[name]
		if !ok {
			return fmt.Errorf("got key %.100q, want none that changes ids and is not known", name)
		}
		if seen[name] {
			return fmt.Errorf("key %q comes twice", name)
		}
		seen[name] = true
		if err := field(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
}

// to reads a JSON value into a Go value.
func (r jsonReader) to(v any) func() error {
	return func() error {
		value, err := r.ReadValue()
		if err != nil {
			return err
		}
		return json.Unmarshal(value, v, json.RejectUnknownMembers(true))
	}
}

// raw reads a value and returns its bytes, which must not change.
func (r jsonReader) raw(v *jsontext.Value) func() error {
	return func() error {
		value, err := r.ReadValue()
		*v = slices.Clone(value)
		return err
	}
}

// skip reads a value that does not affect ids.
func (r jsonReader) skip() error { return r.SkipValue() }

// pair reads a pair of tokens.
func (r jsonReader) pair() (pair [2]string, err error) {
	if r.PeekKind() == '"' {
		merge, err := r.string()
		if err != nil {
			return pair, err
		}
		return cutMerge(merge)
	}
	if err := r.open('[', "a pair"); err != nil {
		return pair, err
	}
	for i := range pair {
		if pair[i], err = r.string(); err != nil {
			return pair, err
		}
	}
	return pair, r.close(']', "a pair of tokens")
}

// close reads the end of a list.
func (r jsonReader) close(kind jsontext.Kind, want string) error {
	if got := r.PeekKind(); got != kind && got > 0 {
		return fmt.Errorf("got %v at byte %d, want %s", got, r.InputOffset(), want)
	}
	_, err := r.ReadToken()
	return err
}
