package config

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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
	AllowNull    bool // take a null field as absent, and a null entry of a map as a zero one
}

// Foreign reads files of other programs, and files that hold more than is read.
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
	read := r.shared
	if len(to) == 1 {
		read = func(text []byte, to []reflect.Value) error { return r.unmarshal(text, to[0]) }
	}
	if err := read(text, copies); err != nil {
		return err
	}
	for i, one := range to {
		reflect.ValueOf(one).Elem().Set(copies[i].Elem())
	}
	return nil
}

// shared reads an object into several structs. The last may read itself.
func (r Reader) shared(text []byte, to []reflect.Value) error {
	if kind := jsontext.Value(text).Kind(); kind != '{' {
		return mismatch(bytes.TrimSpace(text), "a JSON object")
	}
	members := maps.Collect(Members(text))
	var all []field
	var first, last error
	for i, v := range to {
		reads, ok := v.Interface().(json.Unmarshaler)
		switch {
		case ok && i == len(to)-1:
			last = inJSON(reads.UnmarshalJSON(objectOf(members)))
			clear(members)
			continue
		case ok || v.Elem().Kind() != reflect.Struct:
			return fmt.Errorf("config: Decode: got %v beside others, want a pointer to a plain struct", v.Type())
		}
		own := map[string]jsontext.Value{}
		for _, f := range fieldsOf(v.Elem()) {
			if member, ok := members[f.key]; ok {
				own[f.key] = member
				delete(members, f.key)
			}
			all = append(all, f)
		}
		if err := r.unmarshal(objectOf(own), v); first == nil {
			first = err
		}
	}
	if !r.AllowUnknown && len(members) > 0 {
		last = unknown(members)
	}
	if err, ok := withKnown(last, all); ok || first == nil {
		return err // before any other error, since a misspelt field may cause others
	}
	return first
}

// reading are the options of package json with which each Reader reads, made once for what they remember of types.
var reading = map[Reader]json.Options{}

func init() {
	for _, r := range []Reader{{}, {AllowUnknown: true}, {AllowNull: true}, Foreign} {
		reading[r] = json.JoinOptions(json.WithUnmarshalers(json.UnmarshalFromFunc(r.next)), tolerant)
	}
}

// unmarshal reads valid JSON into what a pointer points to.
func (r Reader) unmarshal(text []byte, to reflect.Value) error {
	err := json.Unmarshal(text, to.Interface(), reading[r])
	if e, ok := find(err); ok {
		return e
	}
	return err
}

// next reads the decoder's next value into what a pointer points to, or returns json.SkipFunc for the elements of a
// struct, list or map to come to it, too.
func (r Reader) next(d *jsontext.Decoder, to any) error {
	v, kind := reflect.ValueOf(to).Elem(), d.PeekKind()
	if parent, _ := d.StackIndex(d.StackDepth()); kind == 'n' && r.AllowNull && parent == '{' {
		return d.SkipValue()
	}
	begin := d.InputOffset()
	err := r.value(d, kind, v)
	if err == nil || errors.Is(err, json.SkipFunc) {
		return err
	}
	if d.InputOffset() == begin {
		_ = d.SkipValue() // which is valid
	}
	return within(pathOf(d, d.StackPointer()), err)
}

// value reads a value of a kind into v, which is addressable. It prepares a struct, a list or a map for its elements,
// and returns json.SkipFunc.
func (r Reader) value(d *jsontext.Decoder, kind jsontext.Kind, v reflect.Value) error {
	t := v.Type()
	switch {
	case kind == 'n':
		return mismatch(textOf(d), kindOf(t))
	case t.Kind() == reflect.Pointer:
		next := reflect.New(t.Elem())
		if !v.IsNil() {
			next.Elem().Set(v.Elem())
		}
		v.Set(next)
		return json.SkipFunc // which comes to what it points to
	}
	switch u := v.Addr().Interface().(type) {
	case json.Unmarshaler:
		text, _ := d.ReadValue()
		return inJSON(u.UnmarshalJSON(text))
	case encoding.TextUnmarshaler:
		if kind != '"' {
			return mismatch(textOf(d), kindOf(t))
		}
		text, _ := d.ReadToken()
		return inJSON(u.UnmarshalText([]byte(text.String())))
	}
	switch t.Kind() {
	case reflect.Struct:
		if kind == '{' {
			return r.known(unread(d), fieldsOf(v))
		}
	case reflect.Map:
		switch {
		case t.Key().Kind() != reflect.String:
			return unreadable(t)
		case kind == '{':
			v.Set(copyOf(v))
			return json.SkipFunc
		}
	case reflect.Slice, reflect.Array:
		switch {
		case t.Elem().Kind() == reflect.Uint8: // which package json writes in base64
			return unreadable(t)
		case kind == '[' && (t.Kind() == reflect.Slice || t.Len() == lengthOf(unread(d))):
			v.SetZero()
			return json.SkipFunc
		}
	default:
		text, _ := d.ReadValue()
		if json.Unmarshal(text, v.Addr().Interface(), tolerant) != nil {
			return refused(text, t)
		}
		return nil
	}
	return refused(textOf(d), t)
}

// unread returns the text from the decoder's next value on.
func unread(d *jsontext.Decoder) []byte { return bytes.TrimLeft(d.UnreadBuffer(), " \t\r\n,:") }

// textOf returns the decoder's next value, which it does not read.
func textOf(d *jsontext.Decoder) jsontext.Value {
	text, _ := decoderOf(unread(d)).ReadValue()
	return text
}

// known returns json.SkipFunc, or an error if an object has members that are no fields.
func (r Reader) known(object []byte, fields []field) error {
	if r.AllowUnknown {
		return json.SkipFunc
	}
	others := map[string]jsontext.Value{}
	for key, member := range Members(object) {
		if !slices.ContainsFunc(fields, func(f field) bool { return f.key == key }) {
			others[key] = member
		}
	}
	if len(others) == 0 {
		return json.SkipFunc
	}
	err, _ := withKnown(unknown(others), fields)
	return err
}

// copyOf returns a map with the entries of a map.
func copyOf(v reflect.Value) reflect.Value {
	next := reflect.MakeMapWithSize(v.Type(), v.Len())
	for i := v.MapRange(); i.Next(); {
		next.SetMapIndex(i.Key(), i.Value())
	}
	return next
}
