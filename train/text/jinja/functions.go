package jinja

import (
	"errors"
	"strings"
)

// newNamespace is the function namespace.
func newNamespace(_ *run, args []any, named *Dict) any {
	n := namespace{&Dict{}}
	for _, x := range args {
		d, ok := x.(*Dict)
		if !ok {
			fail("namespace: got %s, want a dict or names with values", typeName(x))
		}
		for _, key := range d.keys {
			n.Set(key, d.values[key])
		}
	}
	for _, key := range named.keys {
		n.Set(key, named.values[key])
	}
	return n
}

// numbers is the function range.
func numbers(r *run, args []any, _ *Dict) any {
	bounds := []int{}
	for _, x := range args {
		n, ok := x.(int)
		if !ok {
			fail("range: got %s, want whole numbers", typeName(x))
		}
		bounds = append(bounds, n)
	}
	from, to, step := 0, 0, 1
	switch len(bounds) {
	case 1:
		to = bounds[0]
	case 2:
		from, to = bounds[0], bounds[1]
	case 3:
		from, to, step = bounds[0], bounds[1], bounds[2]
	default:
		fail("range: got %d arguments, want 1 to 3", len(bounds))
	}
	if step == 0 {
		fail("range: got steps of 0, want others")
	}
	items := []any{}
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		r.took(1)
		items = append(items, i)
	}
	return items
}

// raise is the function raise_exception.
func raise(r *run, args []any, _ *Dict) any {
	text := "an exception without a message"
	if len(args) > 0 {
		text = r.textOf(args[0])
	}
	panic(failure{&Raised{text}})
}

// Raised is the error of a template that refuses what it is to render.
type Raised struct{ Message string }

func (e *Raised) Error() string {
	return "the template refuses: " + strings.Join(strings.Fields(e.Message), " ")
}

// IsRaised reports whether an error is that of a template that refuses what it is to render.
func IsRaised(err error) bool {
	_, ok := errors.AsType[*Raised](err)
	return ok
}

// strftime is the function strftime_now.
func strftime(r *run, args []any, _ *Dict) any {
	if len(args) != 1 || !isString(args[0]) {
		fail("strftime_now: got other arguments, want a format")
	}
	var text strings.Builder
	format := args[0].(string)
	for i := 0; i < len(format); i++ {
		if i++; format[i-1] != '%' || i == len(format) {
			i--
			text.WriteByte(format[i])
			continue
		}
		if form, ok := timeForms[format[i]]; ok {
			text.WriteString(r.now.Format(form))
			continue
		}
		if format[i] != '%' {
			text.WriteByte('%')
		}
		text.WriteByte(format[i])
	}
	return r.long(text.String())
}

// timeForms are the forms of times by the letters of strftime.
var timeForms = map[byte]string{'Y': "2006", 'm': "01", 'd': "02", 'b': "Jan", 'B': "January", 'H': "15", 'M': "04",
	'y': "06", 'S': "05", 'A': "Monday", 'a': "Mon", 'I': "03", 'p': "PM", 'j': "002"}
