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
	to    expression // a target
	value expression // nil if it is the text of body
	body  []statement
}

func (s assignment) execute(r *run) jump {
	if s.value != nil {
		r.assign(s.to, r.eval(s.value))
		return ends
	}
	r.assign(s.to, r.capture(s.body))
	return ends
}

// assign sets a variable or a name of a namespace to a value, or each of a tuple of them to an item of the value.
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

type macro struct {
	name       string
	parameters []argument
	body       []statement
}

// execute defines the macro as a function, which sees the variables of the scope in which it is defined.
func (s macro) execute(r *run) jump {
	up := r.scope
	r.set(s.name, function(func(r *run, args []any, named *Dict) (text any) {
		defer r.deeper()()
		r.within(up, func() {
			s.bind(r, args, named)
			text = r.capture(s.body)
		})
		return text
	}))
	return ends
}

// bind sets the parameters to the arguments of a call.
func (s macro) bind(r *run, args []any, named *Dict) {
	if len(args) > len(s.parameters) {
		fail("%s: got %d arguments, want at most %d", s.name, len(args), len(s.parameters))
	}
	used := 0
	for i, p := range s.parameters {
		value, ok := named.Get(p.name)
		if ok {
			used++
		}
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
	for _, name := range named.Keys() {
		if used < len(named.keys) && !slices.ContainsFunc(s.parameters, func(p argument) bool { return p.name == name }) {
			fail("%s: got the argument %s, want one of its parameters", s.name, name)
		}
	}
}

// generation is text that the model generates.
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
