package config

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// Decode reads text, one JSON value, into to, usually a pointer to a struct. It refuses
// unknown and duplicate fields, names in another case, null, and values of another type or
// out of range. Its errors have one line and begin with the JSON path.
//
// Fields that the text does not name keep their values: Decode merges structs and maps and
// replaces lists and scalars. A json.Unmarshaler reads itself and decides what it keeps; it
// never gets null. After an error, to is unchanged. Decode copies structs behind pointers
// and maps before it changes them, so that values that share them do not change.
//
// Several structs share the fields of one object; of two fields with one name the first
// counts. The last of several may be a json.Unmarshaler: it gets an object of the fields
// that the others do not have.
func Decode(text []byte, to ...any) error { return Reader{}.Decode(text, to...) }

// Reader reads JSON with options. The zero value reads like Decode. The options do not
// apply inside a json.Unmarshaler.
type Reader struct {
	AllowUnknown bool // skip unknown fields
	AllowNull    bool // take a null field as absent
}

// Foreign reads files of other programs, and files of which only a part matters.
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
		copies[i] = reflect.New(v.Type().Elem())
		copies[i].Elem().Set(v.Elem())
	}
	text = trim(text)
	var err error
	if len(to) == 1 {
		err = r.value(text, copies[0].Elem())
	} else {
		err = r.shared(text, copies)
	}
	if err != nil {
		return err
	}
	for i, one := range to {
		reflect.ValueOf(one).Elem().Set(copies[i].Elem())
	}
	return nil
}

// shared reads an object into several structs, of which the last may read itself.
func (r Reader) shared(text []byte, to []reflect.Value) error {
	var fields []field
	var rest json.Unmarshaler
	for i, v := range to {
		reads, ok := v.Interface().(json.Unmarshaler)
		switch {
		case ok && i == len(to)-1:
			rest = reads
		case ok || v.Elem().Kind() != reflect.Struct:
			return fmt.Errorf("config: Decode: got %v beside others, want a pointer to a plain struct", v.Type())
		default:
			fields = append(fields, fieldsOf(v.Elem())...)
		}
	}
	return r.object(text, fields, rest)
}

// trim returns a JSON value without the space around it.
func trim(text []byte) []byte { return bytes.Trim(text, " \t\r\n") }

// value reads valid JSON into v, which must be addressable.
func (r Reader) value(text []byte, v reflect.Value) error {
	if v.Kind() == reflect.Pointer {
		next := reflect.New(v.Type().Elem())
		if !v.IsNil() {
			next.Elem().Set(v.Elem())
		}
		if err := r.value(text, next.Elem()); err != nil {
			return err
		}
		v.Set(next)
		return nil
	}
	if string(text) == "null" {
		return mismatch(text, kindOf(v.Type()))
	}
	switch u := v.Addr().Interface().(type) {
	case json.Unmarshaler:
		return inJSON(u.UnmarshalJSON(text))
	case encoding.TextUnmarshaler:
		var s string
		if json.Unmarshal(text, &s) != nil {
			return mismatch(text, "a string")
		}
		return inJSON(u.UnmarshalText([]byte(s)))
	}
	switch v.Kind() {
	case reflect.Struct:
		return r.object(text, fieldsOf(v), nil)
	case reflect.Map:
		return r.entries(text, v)
	case reflect.Slice, reflect.Array:
		return r.list(text, v)
	}
	return scalar(text, v)
}

// object reads a JSON object into fields. rest, unless nil, gets the other members.
func (r Reader) object(text []byte, fields []field, rest json.Unmarshaler) error {
	if text[0] != '{' {
		return mismatch(text, "a JSON object")
	}
	members := maps.Collect(Members(text))
	var first error
	for _, f := range fields {
		member, ok := members[f.key]
		delete(members, f.key)
		if !ok || r.AllowNull && string(member) == "null" {
			continue
		}
		if err := r.value(member, f.value); err != nil && first == nil {
			first = within(f.name, err)
		}
	}
	var err error
	switch {
	case rest != nil:
		err = inJSON(rest.UnmarshalJSON(objectOf(members)))
	case !r.AllowUnknown && len(members) > 0:
		err = unknown(members)
	}
	if all, ok := withKnown(err, fields); ok || first == nil {
		return all // before any other error, since a misspelt field may cause others
	}
	return first
}

// entries reads a JSON object into a map, which keeps its other entries.
func (r Reader) entries(text []byte, v reflect.Value) error {
	t := v.Type()
	if t.Key().Kind() != reflect.String {
		return unreadable(t)
	}
	if text[0] != '{' {
		return mismatch(text, kindOf(t))
	}
	members := maps.Collect(Members(text))
	next := reflect.MakeMapWithSize(t, v.Len()+len(members))
	for i := v.MapRange(); i.Next(); {
		next.SetMapIndex(i.Key(), i.Value())
	}
	for _, key := range sortedKeys(members) {
		if r.AllowNull && string(members[key]) == "null" {
			continue
		}
		k, entry := reflect.ValueOf(key).Convert(t.Key()), reflect.New(t.Elem()).Elem()
		if old := v.MapIndex(k); old.IsValid() {
			entry.Set(old)
		}
		if err := r.value(members[key], entry); err != nil {
			return within(foreign(key), err)
		}
		next.SetMapIndex(k, entry)
	}
	v.Set(next)
	return nil
}

// list reads a JSON list into a slice, or into an array of the same length.
func (r Reader) list(text []byte, v reflect.Value) error {
	t := v.Type()
	if t.Elem().Kind() == reflect.Uint8 { // which encoding/json writes in base64
		return unreadable(t)
	}
	if text[0] != '[' {
		return mismatch(text, kindOf(t))
	}
	all := slices.Collect(items(text))
	if t.Kind() == reflect.Array && len(all) != t.Len() {
		return mismatch(text, kindOf(t))
	}
	next := reflect.New(t).Elem()
	if t.Kind() == reflect.Slice {
		next = reflect.MakeSlice(t, len(all), len(all))
	}
	for i, item := range all {
		if err := r.value(item, next.Index(i)); err != nil {
			return within(index(i), err)
		}
	}
	v.Set(next)
	return nil
}

// scalar reads a number, a string, true or false, or any value into an empty interface.
func scalar(text []byte, v reflect.Value) error {
	number := text[0] == '-' || text[0] >= '0' && text[0] <= '9'
	switch {
	case v.Kind() == reflect.String && text[0] == '"':
		v.SetString(unquote(text))
		return nil
	case number && v.CanUint():
		if n, err := strconv.ParseUint(string(text), 10, v.Type().Bits()); err == nil {
			v.SetUint(n)
			return nil
		}
	case json.Unmarshal(text, v.Addr().Interface()) == nil:
		return nil
	}
	want := kindOf(v.Type())
	switch {
	case want == anything:
		return unreadable(v.Type())
	case number && (v.CanInt() || v.CanUint() || v.CanFloat()):
		want = rangeOf(v.Type(), string(text))
	}
	return mismatch(text, want)
}
