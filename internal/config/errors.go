package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Error is an error about a field of a config. It can name the field in several ways.
type Error struct {
	subject name // path of the field; empty if the error is about the whole config
	format  string
	args    []any // arguments of type name are other fields
	cause   error
	shown   func(name) string
}

// name is the path of a field from a config: of Go fields and of JSON keys.
type name struct{ field, key string }

// Field is an argument of Errorf that names another field of the config, or a field of one of its configs:
// Field("RoPE.Dims").
type Field string

// Errorf returns an *Error about a field of config c: its name, a colon and the text, as in "NumHeads: got 5, want a
// divisor of Out=12". A path such as "RoPE.Dims" is a field, too. Arguments of type Field name other fields; all other
// arguments are values.
func Errorf(c any, field, format string, args ...any) error {
	e := &Error{subject: nameOf(c, field), format: format, args: slices.Clone(args),
		cause: errors.Unwrap(fmt.Errorf(format, args...)), shown: goName}
	for i, a := range args {
		if f, ok := a.(Field); ok {
			e.args[i] = nameOf(c, string(f))
		}
	}
	return e
}

// In returns err, about the config in a field of config c, as an error about c: its paths
// begin with the field. If err has no *Error, its text becomes the text about the field.
func In(c any, field string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := find(err); ok {
		return e.inside(nameOf(c, field))
	}
	return Errorf(c, field, "%w", err)
}

// From returns err, about a config made from config c, as an error about c. fields maps paths in the first config to
// the fields of c that determine them; nil maps all to equal paths.
func From(c any, err error, fields map[string]string) error {
	e, ok := find(err)
	if !ok {
		return err
	}
	return e.renamed(func(n name) name {
		field, ok := fields[n.field]
		if fields == nil {
			field, ok = n.field, true
		}
		if !ok {
			return n
		}
		return nameOf(c, field)
	})
}

// JSON returns err with JSON names: "model.attention.num_heads: got 5, want a divisor of out_dim=12". Like Named it
// removes text that wraps the *Error, such as a layer's place in a model, and returns an err without an *Error
// unchanged.
func JSON(err error) error { return Named(err, nil) }

// Named returns err with the names of fields by their JSON paths:
// "--num_heads: got 5, want a divisor of --out_dim=12". An element of a list has the list's
// name, "--freeze", and a field of an element begins with it, "--group[0].params". A field
// without a name has its path.
func Named(err error, names map[string]string) error {
	found, ok := find(err)
	if !ok {
		return err
	}
	e := *found
	e.shown = func(n name) string {
		list, element, inList := strings.Cut(n.key, "[")
		switch of := names[list]; {
		case names[n.key] != "":
			return names[n.key]
		case of != "" && inList && strings.HasSuffix(element, "]"):
			return of
		case of != "" && inList:
			return of + "[" + element
		}
		return n.key
	}
	return &e
}

// Path returns the JSON path of the field that the error is about; empty if it is about
// the whole config.
func (e *Error) Path() string { return e.subject.key }

// Error returns the text of the error. The field has its whole path; other fields of the
// same config have only their name.
func (e *Error) Error() string {
	subject := e.shown(e.subject)
	beside := subject[:strings.LastIndexByte(subject, '.')+1]
	args := slices.Clone(e.args)
	for i, a := range args {
		if n, ok := a.(name); ok {
			args[i] = strings.TrimPrefix(e.shown(n), beside)
		}
	}
	text := fmt.Errorf(e.format, args...).Error()
	if subject == "" {
		return text
	}
	return subject + ": " + text
}

// Unwrap returns the error that Errorf wrapped with %w, or nil.
func (e *Error) Unwrap() error { return e.cause }

func (e *Error) inside(outer name) *Error {
	return e.renamed(func(n name) name { return name{join(outer.field, n.field), join(outer.key, n.key)} })
}

func (e *Error) renamed(f func(name) name) *Error {
	r := *e
	r.subject, r.args = f(e.subject), slices.Clone(e.args)
	for i, a := range e.args {
		if n, ok := a.(name); ok {
			r.args[i] = f(n)
		}
	}
	return &r
}

func goName(n name) string { return n.field }

func find(err error) (e *Error, ok bool) {
	ok = errors.As(err, &e)
	return e, ok
}

func join(outer, inner string) string {
	if outer == "" || inner == "" || inner[0] == '[' {
		return outer + inner
	}
	return outer + "." + inner
}
