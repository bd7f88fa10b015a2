package jinja

import "slices"

// output is {{ value }}, or a text.
type output struct {
	line  int
	value expression
}

func (s output) execute(r *run) jump {
	r.line = s.line
	r.out.write(r.str(r.eval(s.value)))
	return ends
}

type assignment struct {
	to      expression // a target
	value   expression // nil if it is the text of body by filters
	body    []statement
	filters []filter
}

func (s assignment) execute(r *run) jump {
	if s.value != nil {
		r.assign(s.to, r.eval(s.value))
		return ends
	}
	r.assign(s.to, r.filtered(s.body, s.filters))
	return ends
}

// filtered returns the text of statements by filters.
func (r *run) filtered(body []statement, filters []filter) any {
	var value any = r.capture(body)
	for _, f := range filters {
		value = f.apply(r, value)
	}
	return value
}

// assign sets a variable, a name of a namespace, or each of a tuple of them to the items of a value.
func (r *run) assign(to expression, value any) {
	switch to := to.(type) {
	case variable:
		r.set(to.name, value)
	case attribute:
		of, ok := r.eval(to.of).(namespace)
		if !ok {
			fail("got an assignment to a member of %s, want it of a namespace", typeName(r.eval(to.of)))
		}
		checkName(to.name)
		r.spend(keyCost)
		of.Set(to.name, value)
	case tupleOf:
		items, ok := r.iterable(value)
		if !ok {
			fail("got %s for %d variables, want a list", typeName(value), len(to.items))
		}
		if len(items) != len(to.items) {
			fail("got %d items for %d variables, want as many", len(items), len(to.items))
		}
		for i, one := range to.items {
			r.assign(one, items[i])
		}
	}
}

type branch struct {
	test            expression
	body, otherwise []statement
}

func (s branch) execute(r *run) jump {
	if truth(r.eval(s.test)) {
		return r.execute(s.body)
	}
	return r.execute(s.otherwise)
}

type with struct {
	to     []expression
	values []expression
	body   []statement
}

func (s with) execute(r *run) (j jump) {
	values := r.all(s.values)
	r.within(r.scope, func() {
		for i, to := range s.to {
			r.assign(to, values[i])
		}
		j = r.execute(s.body)
	})
	return j
}

type filterBlock struct {
	filters []filter
	body    []statement
}

func (s filterBlock) execute(r *run) jump {
	r.out.write(r.str(r.filtered(s.body, s.filters)))
	return ends
}

type macro struct {
	name       string
	parameters []argument
	body       []statement
	extras     []string // the names of extras in its body
}

// extras are variables of a macro that has them in its body: arguments beyond its parameters, and the body of a call.
var extras = []string{"varargs", "kwargs", "caller"}

func (s macro) execute(r *run) jump {
	r.set(s.name, s.function(r))
	return ends
}

// function returns the macro as a function, which sees the variables where the macro stands.
func (s macro) function(r *run) function {
	up := r.scope
	return func(r *run, args []any, named *Dict) any {
		defer r.deeper()()
		var text string
		r.within(up, func() {
			s.bind(r, args, named)
			text = r.capture(s.body)
		})
		return text
	}
}

// bind sets the parameters to the arguments of a call.
func (s macro) bind(r *run, args []any, named *Dict) {
	beyond := r.merge(nil, named.orEmpty())
	for i, p := range s.parameters {
		value, ok := beyond.Get(p.name)
		beyond.remove(p.name)
		switch {
		case i < len(args) && ok:
			fail("%s: got the argument %s twice, want it once", s.name, p.name)
		case i < len(args):
			value = args[i]
		case !ok && p.value != nil:
			value = r.eval(p.value)
		case !ok:
			value = undefined{p.name}
		}
		r.set(p.name, value)
	}
	for _, extra := range s.extras {
		switch extra {
		case "varargs":
			r.set(extra, tuple(args[min(len(s.parameters), len(args)):]))
			args = nil
		case "kwargs":
			r.set(extra, beyond)
			beyond = nil
		case "caller":
			value, ok := beyond.Get(extra)
			if beyond.remove(extra); !ok {
				value = undefined{extra}
			}
			r.set(extra, value)
		}
	}
	if len(args) > len(s.parameters) {
		fail("%s: got %d arguments, want at most %d", s.name, len(args), len(s.parameters))
	}
	if keys := beyond.Keys(); len(keys) > 0 {
		fail("%s: got the argument %s, want one of its parameters", s.name, keys[0])
	}
}

// orEmpty returns a dict, an empty one for nil.
func (d *Dict) orEmpty() *Dict {
	if d == nil {
		return &Dict{}
	}
	return d
}

// remove removes a value.
func (d *Dict) remove(key string) {
	if _, ok := d.Get(key); ok {
		delete(d.values, key)
		d.keys = slices.DeleteFunc(d.keys, func(k string) bool { return k == key })
	}
}

// callBlock calls a macro with a body, which it gets as the macro caller.
type callBlock struct {
	call call
	macro
}

func (s callBlock) execute(r *run) jump {
	of := r.eval(s.call.of)
	args, named := r.arguments(s.call.arguments)
	named = r.merge(named, &Dict{[]string{"caller"}, map[string]any{"caller": s.macro.function(r)}})
	r.out.write(r.str(r.call(of, args, named, s.call.of)))
	return ends
}

// generation is what a model has written, or shall write.
type generation struct{ body []statement }

func (s generation) execute(r *run) (j jump) {
	if r.captured > 0 {
		fail("got a generation block within a macro or set, want it in the text itself")
	}
	from := r.out.Len()
	r.within(r.scope, func() { j = r.execute(s.body) })
	r.spendTimes(itemCost, 1+len(r.items))
	r.spans = append(r.spans, Span{From: from, To: r.out.Len(), Items: slices.Clone(r.items)})
	return j
}
