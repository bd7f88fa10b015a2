package config

import (
	"encoding"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"attention/internal/oneline"

	"github.com/go-json-experiment/json/jsontext"
)

// errorf returns an error of Decode, with JSON names.
func errorf(format string, args ...any) error { return JSON(Errorf(nil, "", format, args...)) }

// inJSON returns the error of a type that reads itself with JSON names.
func inJSON(err error) error {
	if _, ok := find(err); ok || err == nil {
		return JSON(err)
	}
	return errorf("%w", err)
}

// within returns an error of Decode about the member or the element at a path as one about the whole.
func within(path string, err error) error {
	e, ok := find(err)
	if !ok {
		return err
	}
	e = e.inside(name{path, path})
	e.subject.key = cut(e.subject.key, 200)
	return e
}

// cut returns at most n characters of s, printable on one line.
func cut(s string, n int) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return unicode.ReplacementChar
	}, fmt.Sprintf("%.*s", n, s))
}

func mismatch(text []byte, want string) error {
	return errorf("got %s, want %s", cut(string(text), 60), want)
}

func unreadable(t reflect.Type) error {
	return errorf("got a value for a %v, want none: JSON cannot set it", t)
}

// refused returns the error about a value that a type does not accept.
func refused(text jsontext.Value, t reflect.Type) error {
	want := kindOf(t)
	switch {
	case want == anything:
		return unreadable(t)
	case text.Kind() == '0' && (want == "a number" || want == "a whole number"):
		want = rangeOf(t, string(text))
	}
	return mismatch(text, want)
}

// anything is the result of kindOf for a type without a JSON kind.
const anything = "a value"

// kindOf returns the kind of JSON that a type needs, in words for an error.
func kindOf(t reflect.Type) string {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return "a string"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return kindOf(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "a string"
	case reflect.Struct, reflect.Map:
		return "a JSON object"
	case reflect.Slice:
		return "a list"
	case reflect.Array:
		return fmt.Sprintf("a list of length %d", t.Len())
	}
	return anything
}

// rangeOf returns the numbers that a type can hold, or its kind if number is a fraction.
func rangeOf(t reflect.Type, number string) string {
	bits := t.Bits()
	kind := kindOf(t)
	switch {
	case kind == "a number":
		most := math.MaxFloat64
		if bits == 32 {
			most = math.MaxFloat32
		}
		return fmt.Sprintf("a number from %.4g to %.4g", -most, most)
	case strings.ContainsAny(number, ".eE"):
		return kind
	case t.Kind() >= reflect.Uint:
		return fmt.Sprintf("a whole number from 0 to %d", uint64(math.MaxUint64)>>(64-bits))
	}
	return fmt.Sprintf("a whole number from %d to %d", int64(math.MinInt64)>>(64-bits), int64(math.MaxInt64)>>(64-bits))
}

// knownKeys lists the fields that an object may have.
type knownKeys []string

func (k knownKeys) String() string {
	if len(k) == 0 {
		return "no fields"
	}
	return strings.Join(k, ", ")
}

// unknown returns the error about members of an object that are not fields.
func unknown(members map[string]jsontext.Value) error {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(members)) {
		list = append(list, fmt.Sprintf("%.60q", key))
	}
	return errorf("unknown field %s; it has %s", oneline.List(list, 10), knownKeys(nil))
}

// withKnown adds fields to the list in err if err is the error of unknown about this
// object, not one inside it, and reports whether it is.
func withKnown(err error, fields []field) (error, bool) {
	e, ok := find(err)
	if !ok || e.subject != (name{}) || len(e.args) != 2 {
		return err, false
	}
	known, ok := e.args[1].(knownKeys)
	if !ok {
		return err, false
	}
	var all, each knownKeys
	for _, f := range fields {
		all = append(all, f.key)
	}
	for _, key := range append(all, known...) {
		if !slices.Contains(each, key) {
			each = append(each, key)
		}
	}
	r := *e
	r.args = []any{e.args[0], each}
	return &r, true
}
