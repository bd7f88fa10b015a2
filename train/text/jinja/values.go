package jinja

import "math/big"

// Dict is a dict: values by names, in the order in which the names were first set. The zero value is empty.
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
	if d == nil {
		return nil, false
	}
	value, ok = d.values[key]
	return value, ok
}

// Keys returns the names in their order.
func (d *Dict) Keys() []string {
	if d == nil {
		return nil
	}
	return d.keys
}

// undefined is the value of a variable or member that does not exist, with its name.
type undefined struct{ name string }

// markup is a text from the filter safe or escape. Text that is joined to it is escaped.
type markup string

// tuple is a list in parentheses.
type tuple []any

// view is the list of a dict's items, or a range.
type view struct {
	name    string
	items   []any
	indexed bool // whether its items can be indexed
}

// generator is a list of items that can be read only once.
type generator struct{ items []any }

// namespace is a dict whose values a template may set, even from within loops.
type namespace struct{ *Dict }

// function is a function of a template.
type function func(r *run, args []any, named *Dict) any

// method is a method of a value.
type method struct {
	of   any
	name string
	signature
}

// typeName returns the name of a value's type, for errors.
func typeName(x any) string {
	switch x := x.(type) {
	case undefined:
		return "nothing defined"
	case nil:
		return "none"
	case bool:
		return "a boolean"
	case int, float64, *big.Int:
		return "a number"
	case string, markup:
		return "a string"
	case []any:
		return "a list"
	case tuple:
		return "a tuple"
	case view:
		return "a " + x.name
	case *generator:
		return "a generator"
	case *Dict:
		return "a dict"
	case namespace:
		return "a namespace"
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
	case markup:
		return x != ""
	case view:
		return len(x.items) > 0
	case *Dict:
		return len(x.keys) > 0
	}
	items, is := sequenceOf(x)
	return !is || len(items) > 0
}

// textOf returns a string, and reports whether a value is one.
func textOf(x any) (string, bool) {
	switch x := x.(type) {
	case string:
		return x, true
	case markup:
		return string(x), true
	}
	return "", false
}

// sequenceOf returns the items of a list, a tuple or a range, and reports whether a value is one.
func sequenceOf(x any) ([]any, bool) {
	switch x := x.(type) {
	case []any:
		return x, true
	case tuple:
		return x, true
	case view:
		return x.items, x.indexed
	}
	return nil, false
}

// iterate returns the values over which a loop runs: items, characters, or the keys of a dict.
func (r *run) iterate(x any) []any {
	items, ok := r.iterable(x)
	if !ok {
		fail("got %s, want a list, a dict or a string", typeName(x))
	}
	return items
}

// iterable returns the result of iterate, and reports whether a loop over the value is possible.
func (r *run) iterable(x any) (items []any, ok bool) {
	r.read(x)
	switch x := x.(type) {
	case string:
		for _, c := range x {
			r.spend(itemCost)
			items = append(items, string(c))
		}
		return items, true
	case markup:
		return r.iterable(string(x))
	case *Dict:
		return r.keys(x), true
	case view:
		return x.items, true
	case *generator:
		items, x.items = x.items, nil
		return items, true
	case undefined:
		return nil, true
	}
	return sequenceOf(x)
}

// keys returns the keys of a dict.
func (r *run) keys(d *Dict) []any {
	keys := r.newList(len(d.keys))
	for _, key := range d.keys {
		keys = append(keys, key)
	}
	return keys
}
