package config

import (
	"bytes"
	"encoding"
	"fmt"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Decode reads text, one JSON value, into to, usually a pointer to a struct. It refuses
// unknown and duplicate fields, names in another case, null, and values of another type or
// out of range. Its errors have one line and begin with the JSON path.
//
// Fields that the text does not name keep their values: Decode merges structs and maps and replaces lists and scalars.
// A json.Unmarshaler reads its own text and decides which values it keeps; it never gets null. After an error, to is
// unchanged. Decode copies structs behind pointers and maps before it changes them, so that values that share them do
// not change.
//
// Decode may read one object into several structs. If two fields have the same name, only the first is set.
func Decode(text []byte, to ...any) error { return Reader{}.Decode(text, to...) }

// Reader reads JSON with options. The zero value reads like Decode. The options do not
// apply inside a json.Unmarshaler.
type Reader struct {
	AllowUnknown bool // skip unknown fields
	AllowNull    bool // treat a null field as absent, and a null entry of a map as zero
}

// Foreign is for files of other programs, and for files with more fields than are read.
var Foreign = Reader{AllowUnknown: true, AllowNull: true}

// Decode is the function Decode with the Reader's options.
func (r Reader) Decode(text []byte, to ...any) error {
	if err := check(text); err != nil {
		return err
	}
	copies := make([]reflect.Value, len(to))
	for i, one := range to {
		v := reflect.ValueOf(one)
		if v.Kind() != reflect.Pointer || v.IsNil() {
			return fmt.Errorf("config: Decode: got %T, want a pointer to a config", one)
		}
		copies[i] = reflect.New(v.Type().Elem()).Elem()
		copies[i].Set(v.Elem())
	}
	if err := r.all(bytes.TrimSpace(text), copies); err != nil {
		return err
	}
	for i, one := range to {
		reflect.ValueOf(one).Elem().Set(copies[i])
	}
	return nil
}

// all reads a value, or an object into several structs. The last of them may be a json.Unmarshaler.
func (r Reader) all(text jsontext.Value, to []reflect.Value) error {
	if len(to) == 1 {
		return r.value(text, to[0])
	}
	var all []field
	var last json.Unmarshaler
	for i, v := range to {
		reads, ok := v.Addr().Interface().(json.Unmarshaler)
		switch {
		case ok && i == len(to)-1:
			last = reads
		case ok || v.Kind() != reflect.Struct:
			return fmt.Errorf("config: Decode: got *%v beside others, want a pointer to a plain struct", v.Type())
		default:
			all = append(all, fieldsOf(v)...)
		}
	}
	if text.Kind() != '{' {
		return mismatch(text, "a JSON object")
	}
	return r.object(text, all, last)
}

// object reads an object into fields. If others is not nil, members that are not fields are stored in it.
func (r Reader) object(text jsontext.Value, fields []field, others json.Unmarshaler) error {
	given, rest := make([]jsontext.Value, len(fields)), map[string]jsontext.Value{}
	for key, member := range Members(text) {
		if i := slices.IndexFunc(fields, func(f field) bool { return f.key == key }); i >= 0 {
			given[i] = member
		} else {
			rest[key] = member
		}
	}
	var last error
	if others != nil {
		object, _ := json.Marshal(rest, json.Deterministic(true), tolerant)
		last = inJSON(others.UnmarshalJSON(object))
	} else if !r.AllowUnknown && len(rest) > 0 {
		last = unknown(rest)
	}
	if err, ok := withKnown(last, fields); ok {
		return err // before any other error, since a misspelled field may cause others
	}
	for i, f := range fields {
		if given[i] == nil || r.absent(given[i]) {
			continue
		}
		if err := r.value(given[i], f.value); err != nil {
			return within(f.key, err)
		}
	}
	return last
}

// absent reports whether a member counts as missing.
func (r Reader) absent(member jsontext.Value) bool { return r.AllowNull && member.Kind() == 'n' }

// value reads a value into v, which is addressable.
func (r Reader) value(text jsontext.Value, v reflect.Value) error {
	t, kind := v.Type(), text.Kind()
	switch {
	case kind == 'n':
		return mismatch(text, kindOf(t))
	case t.Kind() == reflect.Pointer:
		next := reflect.New(t.Elem())
		if !v.IsNil() {
			next.Elem().Set(v.Elem())
		}
		v.Set(next)
		return r.value(text, next.Elem())
	}
	switch u := v.Addr().Interface().(type) {
	case json.Unmarshaler:
		return inJSON(u.UnmarshalJSON(text))
	case encoding.TextUnmarshaler:
		if kind != '"' {
			return mismatch(text, kindOf(t))
		}
		word, _ := decoderOf(text).ReadToken()
		return inJSON(u.UnmarshalText([]byte(word.String())))
	}
	switch t.Kind() {
	case reflect.Struct:
		if kind == '{' {
			return r.object(text, fieldsOf(v), nil)
		}
	case reflect.Map:
		switch {
		case t.Key().Kind() != reflect.String:
			return unreadable(t)
		case kind == '{':
			return r.entries(text, v)
		}
	case reflect.Slice, reflect.Array:
		switch {
		case t.Elem().Kind() == reflect.Uint8: // which package json writes in base64
			return unreadable(t)
		case kind == '[':
			return r.list(text, v)
		}
	default:
		if json.Unmarshal(text, v.Addr().Interface(), tolerant) == nil {
			return nil
		}
	}
	return refused(text, t)
}

// entries reads the members of an object into a copy of a map.
func (r Reader) entries(text []byte, v reflect.Value) error {
	t := v.Type()
	next := reflect.MakeMap(t)
	for i := v.MapRange(); i.Next(); {
		next.SetMapIndex(i.Key(), i.Value())
	}
	for name, member := range Members(text) {
		key, entry := reflect.ValueOf(name).Convert(t.Key()), reflect.New(t.Elem()).Elem()
		if before := next.MapIndex(key); before.IsValid() {
			entry.Set(before)
		}
		if !r.absent(member) {
			if err := r.value(member, entry); err != nil {
				return within(name, err)
			}
		}
		next.SetMapIndex(key, entry)
	}
	v.Set(next)
	return nil
}

// list reads the elements of a list into a new slice, or into an array of their number.
func (r Reader) list(text jsontext.Value, v reflect.Value) error {
	isSlice, n := v.Kind() == reflect.Slice, 0
	v.SetZero()
	for _, element := range parts(text, '[') {
		if isSlice {
			v.Grow(1)
			v.SetLen(n + 1)
		} else if n == v.Len() {
			return refused(text, v.Type())
		}
		if err := r.value(element, v.Index(n)); err != nil {
			return within(fmt.Sprintf("[%d]", n), err)
		}
		n++
	}
	switch {
	case n < v.Len():
		return refused(text, v.Type())
	case n == 0 && isSlice:
		v.Set(reflect.MakeSlice(v.Type(), 0, 0)) // not nil
	}
	return nil
}
