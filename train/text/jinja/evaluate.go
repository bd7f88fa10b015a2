package jinja

type expression interface{ evaluate(r *run) any }

type literal struct{ value any }

func (e literal) evaluate(*run) any { return e.value }

type variable struct{ name string }

func (e variable) evaluate(r *run) any { return r.scope.get(e.name) }

type list struct{ items []expression }

func (e list) evaluate(r *run) any { return r.all(e.items) }

// all returns the values of expressions.
func (r *run) all(of []expression) []any {
	items := r.newList(len(of))
	for _, item := range of {
		items = append(items, r.eval(item))
	}
	return items
}

type tupleOf struct{ items []expression }

func (e tupleOf) evaluate(r *run) any { return tuple(r.all(e.items)) }

type dict struct{ keys, values []expression }

func (e dict) evaluate(r *run) any {
	var d Dict
	for i, key := range e.keys {
		name, ok := textOf(r.eval(key))
		if !ok {
			fail("got another key of a dict, want a string")
		}
		r.spend(keyCost)
		d.Set(name, r.eval(e.values[i]))
	}
	return &d
}

// choice is yes if test else no. Without an else, no is nil.
type choice struct{ test, yes, no expression }

func (e choice) evaluate(r *run) any {
	switch {
	case truth(r.eval(e.test)):
		return r.eval(e.yes)
	case e.no == nil:
		return undefined{"what has no else"}
	}
	return r.eval(e.no)
}

// logical is the operator or if until is true, and the operator and if until is false. Its value is that of the first
// item whose truth equals until, or else of the last item.
type logical struct {
	until bool
	items []expression
}

func (e logical) evaluate(r *run) (x any) {
	for _, item := range e.items {
		if x = r.eval(item); truth(x) == e.until {
			break
		}
	}
	return x
}

type not struct{ x expression }

func (e not) evaluate(r *run) any { return !truth(r.eval(e.x)) }

// operand is an operator and the value after it.
type operand struct {
	operator string
	x        expression
}

// comparison is a chain of comparisons, such as a < b < c.
type comparison struct {
	first expression
	rest  []operand
}

func (e comparison) evaluate(r *run) any {
	x := r.eval(e.first)
	for _, o := range e.rest {
		y := r.eval(o.x)
		if !r.compare(o.operator, x, y) {
			return false
		}
		x = y
	}
	return true
}

// chain is a chain of arithmetic operators, which are applied from left to right.
type chain struct {
	first expression
	rest  []operand
}

func (e chain) evaluate(r *run) any {
	x := r.eval(e.first)
	for _, o := range e.rest {
		x = r.calculate(o.operator, x, r.eval(o.x))
	}
	return x
}

// joined is the concatenation of its items' texts by ~.
type joined struct{ items []expression }

func (e joined) evaluate(r *run) any {
	texts := make([]string, len(e.items))
	for i, item := range e.items {
		texts[i] = r.str(r.eval(item))
	}
	return r.join(texts, "")
}

type signed struct {
	negative bool
	x        expression
}

func (e signed) evaluate(r *run) any {
	operator := "+"
	if e.negative {
		operator = "-"
	}
	x := r.eval(e.x)
	if f, ok := x.(float64); ok && e.negative {
		return -f
	}
	if _, ok := integerIn(x); !ok && !isFloat(x) {
		fail("got %s%s, want a number", operator, typeName(x))
	}
	return r.calculate(operator, 0, x)
}

type test struct {
	of        expression
	name      string
	arguments []argument
}

func (e test) evaluate(r *run) any {
	x := r.eval(e.of)
	args, named := r.arguments(e.arguments)
	return r.test(e.name, x, args, named)
}

type filter struct {
	of        expression
	name      string
	arguments []argument
}

func (e filter) evaluate(r *run) any {
	x := r.eval(e.of)
	args, named := r.arguments(e.arguments)
	return r.filter(e.name, x, args, named)
}

type argument struct {
	name  string // "" if it has none
	stars int    // 1 for the arguments of a list, 2 for those of a dict
	value expression
}

// arguments returns the positional and the named arguments.
func (r *run) arguments(all []argument) (args []any, named *Dict) {
	for _, a := range all {
		value := r.eval(a.value)
		switch {
		case a.stars == 1:
			items := r.iterate(value)
			r.spendTimes(itemCost, len(items))
			args = append(args, items...)
		case a.stars == 2:
			named = r.merge(named, value)
		case a.name != "":
			named = r.merge(named, &Dict{[]string{a.name}, map[string]any{a.name: value}})
		default:
			args = append(args, value)
		}
	}
	return args, named
}

// merge copies the values of a dict to another dict; nil counts as an empty one.
func (r *run) merge(to *Dict, value any) *Dict {
	d, ok := value.(*Dict)
	if !ok {
		fail("got %s, want a dict", typeName(value))
	}
	if to == nil {
		to = &Dict{}
	}
	for _, key := range d.keys {
		r.spend(keyCost)
		to.Set(key, d.values[key])
	}
	return to
}

type call struct {
	of        expression
	arguments []argument
}

func (e call) evaluate(r *run) any {
	of := r.eval(e.of)
	args, named := r.arguments(e.arguments)
	switch f := of.(type) {
	case function:
		return f(r, args, named)
	case method:
		return f.call(r, args, named)
	}
	fail("got a call of %s%s, want a function", typeName(of), nameOf(e.of))
	return nil
}

// nameOf returns the name of a variable or member, after a colon, if it has one.
func nameOf(e expression) string {
	switch e := e.(type) {
	case variable:
		return ": " + e.name
	case attribute:
		return ": " + e.name
	}
	return ""
}
