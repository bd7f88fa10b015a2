package config

import (
	"reflect"
	"strings"
)

// field is a field of a struct that JSON may set.
type field struct {
	name
	value reflect.Value
	depth int // embedded structs around it
}

// fieldsOf returns the fields of a struct in order, with those of embedded structs. Of two
// fields with the same key the less deeply embedded one counts.
func fieldsOf(v reflect.Value) []field { return addFields(nil, v, 0) }

func addFields(list []field, v reflect.Value, depth int) []field {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		key, tagged := keyOf(f)
		switch {
		case f.Anonymous && !tagged && f.Type.Kind() == reflect.Struct:
			list = addFields(list, v.Field(i), depth+1)
		case f.IsExported() && key != "-":
			list = addField(list, field{name{f.Name, key}, v.Field(i), depth})
		}
	}
	return list
}

func addField(list []field, f field) []field {
	for i, other := range list {
		if other.key == f.key {
			if f.depth < other.depth {
				list[i] = f
			}
			return list
		}
	}
	return append(list, f)
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
