package config

import (
	"reflect"
	"slices"
	"strings"
)

// field is a field of a struct that JSON may set.
type field struct {
	name
	value reflect.Value
}

// fieldsOf returns the fields of a struct in order, with those of embedded structs.
func fieldsOf(v reflect.Value) []field {
	list := make([]field, 0, v.NumField())
	for i := range v.NumField() {
		f := v.Type().Field(i)
		key, tagged := keyOf(f)
		switch {
		case f.Anonymous && !tagged && f.Type.Kind() == reflect.Struct:
			list = append(list, fieldsOf(v.Field(i))...)
		case f.IsExported() && key != "-":
			list = append(list, field{name{f.Name, key}, v.Field(i)})
		}
	}
	return list
}

// keyOf returns the key of a field in JSON and reports whether a tag names it. The key
// "-" means that it has none.
func keyOf(f reflect.StructField) (key string, tagged bool) {
	key, _, _ = strings.Cut(f.Tag.Get("json"), ",")
	if key == "" {
		return f.Name, false
	}
	return key, true
}

// nameOf returns the names of the field at a path of Go fields from config c. For a field
// that c does not have, or that has no key, the key is Go's name.
func nameOf(c any, path string) name {
	t, keys := reflect.TypeOf(c), ""
	for part := range strings.SplitSeq(path, ".") {
		field, index, _ := strings.Cut(part, "[")
		key := field
		t = structOf(t)
		if t != nil {
			f, ok := t.FieldByName(field)
			if k, _ := keyOf(f); ok && k != "-" {
				key = k
			}
			t = f.Type
		}
		if index != "" {
			key += "[" + index
		}
		keys = join(keys, key)
	}
	return name{path, keys}
}

// structOf returns the struct type of t behind pointers, slices and arrays, or nil.
func structOf(t reflect.Type) reflect.Type {
	for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

// valueOf returns the value of the field at a path of Go fields from config c.
func valueOf(c any, path string) (v reflect.Value, ok bool) {
	v = reflect.ValueOf(c)
	for part := range strings.SplitSeq(path, ".") {
		for v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct {
			return v, false
		}
		f, found := v.Type().FieldByName(part)
		if !found {
			return v, false
		}
		var err error
		if v, err = v.FieldByIndexErr(f.Index); err != nil {
			return v, false
		}
	}
	return v, v.IsValid()
}

// At returns the value of the field of config c at a path of JSON keys. Behind a nil pointer it is a zero value.
func At(c any, path string) (value any, ok bool) {
	v := reflect.ValueOf(c)
	for key := range strings.SplitSeq(path, ".") {
		if v.Kind() == reflect.Pointer && v.IsNil() {
			v = reflect.New(v.Type().Elem())
		}
		v = reflect.Indirect(v)
		if v.Kind() != reflect.Struct {
			return nil, false
		}
		fields := fieldsOf(v)
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == key })
		if i < 0 {
			return nil, false
		}
		v = fields[i].value
	}
	return v.Interface(), true
}
