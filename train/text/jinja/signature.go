package jinja

import (
	"slices"
	"strings"
)

// apply implements a filter, a test or a method: it returns a value computed from x and arguments.
type apply func(r *run, x any, g given) any

// signature is a filter, a test or a method with the names of its parameters.
type signature struct {
	parameters []string // nil for any arguments
	apply      apply
}

// entry returns a signature; its parameters are listed in one string.
func entry(parameters string, f apply) signature { return signature{strings.Fields(parameters), f} }

// open returns a signature that accepts any arguments.
func open(f apply) signature { return signature{nil, f} }

// call applies the function with a name to a value.
func (s signature) call(r *run, name string, x any, args []any, named *Dict) any {
	r.read(x)
	for _, a := range args {
		r.read(a)
	}
	for _, key := range named.Keys() {
		r.read(named.values[key])
		if i := slices.Index(s.parameters, key); s.parameters != nil && i < len(args) {
			fail("%s: got the argument %.50s, want one of (%s), each once", name, key, strings.Join(s.parameters, ", "))
		}
	}
	if s.parameters != nil && len(args) > len(s.parameters) {
		fail("%s: got %d arguments, want at most %d", name, len(args), len(s.parameters))
	}
	return s.apply(r, x, given{name, s.parameters, args, named})
}

func (m method) call(r *run, args []any, named *Dict) any {
	x := m.signature.call(r, m.name, m.of, args, named)
	if _, ok := m.of.(markup); ok { // text results for a markup are markup
		switch x := x.(type) {
		case string:
			return markup(x)
		case []any:
			for i, text := range x {
				x[i] = markup(text.(string))
			}
		case tuple:
			for i, text := range x {
				x[i] = markup(text.(string))
			}
		}
	}
	return x
}

// given holds the arguments of a filter, a test or a method.
type given struct {
	of         string // its name
	parameters []string
	args       []any
	named      *Dict
}

// at returns the argument with an index, or the value otherwise.
func (g given) at(i int, otherwise any) any {
	if i < len(g.args) {
		return g.args[i]
	}
	if i < len(g.parameters) {
		if value, ok := g.named.Get(g.parameters[i]); ok {
			return value
		}
	}
	return otherwise
}

// argumentOf returns an argument, which must have the type of otherwise. Every value can be a boolean.
func argumentOf[T any](g given, i int, otherwise T) T {
	value := g.at(i, otherwise)
	var x any
	var ok bool
	switch any(otherwise).(type) {
	case bool:
		x, ok = truth(value), true
	case int:
		x, ok = smallInteger(value)
	case string:
		x, ok = textOf(value)
	}
	if !ok {
		fail("%s: %s: got %s, want %s", g.of, g.parameters[i], typeName(value), typeName(otherwise))
	}
	return x.(T)
}

// needs returns an error for fewer than n arguments.
func (g given) needs(n int) {
	for i := range n {
		if g.at(i, undefined{}) == any(undefined{}) {
			fail("%s: got no argument %s, want it", g.of, g.parameters[i])
		}
	}
}
