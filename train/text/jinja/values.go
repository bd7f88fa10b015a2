package jinja

import (
	"slices"
	"strconv"
	"strings"
)

// Dict is a dict: values by names, in the order in which these were first set. The zero value is empty.
type Dict struct {
	keys   []string
	values map[string]any
}

// Set sets a value.
func (d *Dict) Set(key string, value any) {
	if d.values == nil {
		d.values = map[string]any{}
	}
	if _, ok := d.values[key]; !ok {
		d.keys = append(d.keys, key)
	}
	d.values[key] = value
}

// Get returns a value and reports whether it is there.
func (d *Dict) Get(key string) (value any, ok bool) {
	value, ok = d.values[key]
	return value, ok
}

// Keys returns the names in their order.
func (d *Dict) Keys() []string { return d.keys }

// undefined is the value of what is not there.
type undefined struct{}

// namespace is a dict whose values a template may set, also from within loops.
type namespace struct{ *Dict }

// function is a function of a template, or a method of a value.
type function func(r *run, args []any, named *Dict) any

// typeName returns the name of a value's type, for errors.
func typeName(x any) string {
	switch x.(type) {
	case undefined:
		return "nothing defined"
	case nil:
		return "none"
	case bool:
		return "a boolean"
	case int, float64:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "a list"
	case *Dict, namespace:
		return "a dict"
	case *loopState:
		return "a loop"
	}
	return "a function"
}

// truth reports whether a value counts as true.
func truth(x any) bool {
	switch x := x.(type) {
	case undefined, nil:
		return false
	case bool:
		return x
	case int:
		return x != 0
	case float64:
		return x != 0
	case string:
		return x != ""
	case []any:
		return len(x) > 0
	case *Dict:
		return len(x.keys) > 0
	}
	return true
}

// textOf returns a value as it is rendered. What is not there, and none, are rendered as nothing.
func (r *run) textOf(x any) string {
	switch x := x.(type) {
	case undefined, nil:
		return ""
	case bool:
		return strconv.FormatBool(x)
	case int:
		return strconv.Itoa(x)
	case float64:
		text := strconv.FormatFloat(x, 'f', -1, 64)
		if !strings.ContainsAny(text, ".IN") {
			text += ".0"
		}
		return text
	case string:
		return x
	}
	return r.json(x, jsonForm{item: ", ", key: ": "}, 0)
}

// equal reports whether two values are equal. None and what is not there are.
func equal(x, y any) bool {
	if a, b, ok := numbersOf(x, y); ok {
		return a == b
	}
	switch x := x.(type) {
	case undefined, nil:
		_, is := y.(undefined)
		return is || y == nil
	case string:
		text, ok := y.(string)
		return ok && x == text
	case []any:
		list, ok := y.([]any)
		return ok && slices.EqualFunc(x, list, equal)
	case *Dict:
		d, ok := y.(*Dict)
		return ok && x == d
	}
	return false
}

// numbersOf returns two numbers, of which booleans are 0 and 1, and reports whether both are.
func numbersOf(x, y any) (a, b float64, ok bool) {
	a, first := numberOf(x)
	b, second := numberOf(y)
	return a, b, first && second
}

func numberOf(x any) (float64, bool) {
	switch x := x.(type) {
	case int:
		return float64(x), true
	case float64:
		return x, true
	case bool:
		if x {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}
