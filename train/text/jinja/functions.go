package jinja

import (
	"errors"
	"fmt"
	"strings"
)

// functions are the functions of a template by their names.
var functions = map[string]function{"namespace": newNamespace, "range": numbers, "raise_exception": raise,
	"strftime_now": strftime, "dict": func(r *run, args []any, named *Dict) any { return newDict(r, args, named) }}

// newDict returns a dict with the items of another dict, or of pairs, and with named values.
func newDict(r *run, args []any, named *Dict) *Dict {
	d := &Dict{}
	for _, x := range args {
		if from, ok := x.(*Dict); ok {
			d = r.merge(d, from)
			continue
		}
		for _, item := range r.iterate(x) {
			pair := r.iterate(item)
			if len(pair) != 2 || !isString(pair[0]) {
				fail("dict: got another item, want a name with its value")
			}
			r.spend(keyCost)
			d.Set(r.str(pair[0]), pair[1])
		}
	}
	if named != nil {
		d = r.merge(d, named)
	}
	return d
}

// newNamespace is the function namespace.
func newNamespace(r *run, args []any, named *Dict) any {
	n := namespace{newDict(r, args, named)}
	for _, name := range n.keys {
		checkName(name)
	}
	return n
}

// checkName returns an error for names that transformers refuses in a namespace.
func checkName(name string) {
	if strings.HasPrefix(name, "_") {
		fail("got the name %.50q in a namespace, want one without an underscore before it", name)
	}
}

// mostNumbers is the largest length of a range, as in the sandbox of Python's engine.
const mostNumbers = 100_000

// numbers is the function range.
func numbers(r *run, args []any, _ *Dict) any {
	from, to, step := 0, 0, 1
	bounds := [][]*int{{&to}, {&from, &to}, {&from, &to, &step}}
	if len(args) < 1 || len(args) > 3 {
		fail("range: got %d arguments, want 1 to 3", len(args))
	}
	for i, x := range args {
		n, ok := smallInteger(x)
		if !ok {
			fail("range: got %s, want whole numbers", typeName(x))
		}
		*bounds[len(args)-1][i] = n
	}
	if step == 0 {
		fail("range: got steps of 0, want others")
	}
	name := fmt.Sprintf("range(%d, %d)", from, to)
	if step != 1 {
		name = fmt.Sprintf("range(%d, %d, %d)", from, to, step)
	}
	items := []any{}
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		if r.spend(itemCost); len(items) == mostNumbers {
			fail("got a %s, want at most %d numbers", name, mostNumbers)
		}
		items = append(items, i)
	}
	return view{name, items, true}
}

// raise is the function raise_exception.
func raise(r *run, args []any, _ *Dict) any {
	text := "an exception without a message"
	if len(args) > 0 {
		text = r.str(args[0])
	}
	panic(failure{&Raised{text}})
}

// Raised is the error of a template that rejects its input with raise_exception.
type Raised struct{ Message string }

func (e *Raised) Error() string {
	return "the template refuses: " + strings.Join(strings.Fields(e.Message), " ")
}

// IsRaised reports whether err is the error of a template that rejects its input.
func IsRaised(err error) bool {
	_, ok := errors.AsType[*Raised](err)
	return ok
}
