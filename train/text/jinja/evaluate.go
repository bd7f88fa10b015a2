package jinja

type expression interface{ evaluate(r *run) any }

type literal struct{ value any }

func (e literal) evaluate(*run) any { return e.value }

type variable struct{ name string }

func (e variable) evaluate(r *run) any {
	r.took(1)
	return r.scope.get(e.name)
}

type list struct{ items []expression }

func (e list) evaluate(r *run) any {
	items := make([]any, len(e.items))
	for i, item := range e.items {
		items[i] = item.evaluate(r)
	}
	return items
}

type dict struct{ keys, values []expression }

func (e dict) evaluate(r *run) any {
	var d Dict
	for i, key := range e.keys {
		value := key.evaluate(r)
		name, ok := value.(string)
		if !ok {
			fail("got %s as a key, want a string", typeName(value))
		}
		d.Set(name, e.values[i].evaluate(r))
	}
	return &d
}

// choice is yes if test else no, which is nil without an else.
type choice struct{ test, yes, no expression }

func (e choice) evaluate(r *run) any {
	switch {
	case truth(e.test.evaluate(r)):
		return e.yes.evaluate(r)
	case e.no == nil:
		return undefined{}
	}
	return e.no.evaluate(r)
}

type either struct{ x, y expression }

func (e either) evaluate(r *run) any {
	if x := e.x.evaluate(r); truth(x) {
		return x
	}
	return e.y.evaluate(r)
}

type both struct{ x, y expression }

func (e both) evaluate(r *run) any {
	if x := e.x.evaluate(r); !truth(x) {
		return x
	}
	return e.y.evaluate(r)
}

type not struct{ x expression }

func (e not) evaluate(r *run) any { return !truth(e.x.evaluate(r)) }

type test struct {
	of        expression
	name      string
	arguments []argument
}

func (e test) evaluate(r *run) any {
	x := e.of.evaluate(r)
	args, _ := r.arguments(e.arguments)
	return testOf(e.name)(x, args)
}

type filter struct {
	of        expression
	name      string
	arguments []argument
}

func (e filter) evaluate(r *run) any {
	r.took(1)
	x := e.of.evaluate(r)
	args, named := r.arguments(e.arguments)
	return filterOf(e.name)(r, x, given{e.name, args, named})
}

type argument struct {
	name  string // "" if it has none
	value expression
}

// arguments returns the arguments without names and those with.
func (r *run) arguments(all []argument) (args []any, named *Dict) {
	named = &Dict{}
	for _, a := range all {
		value := a.value.evaluate(r)
		if a.name == "" {
			args = append(args, value)
			continue
		}
		named.Set(a.name, value)
	}
	return args, named
}

type call struct {
	of        expression
	arguments []argument
}

func (e call) evaluate(r *run) any {
	r.took(1)
	f, ok := e.of.evaluate(r).(function)
	if !ok {
		fail("got a call of %s%s, want a function", typeName(e.of.evaluate(r)), nameOf(e.of))
	}
	args, named := r.arguments(e.arguments)
	return f(r, args, named)
}

// nameOf returns the name of a variable or member, after a colon, if it has one.
func nameOf(e expression) string {
	switch e := e.(type) {
	case variable:
		return ": " + e.name
	case member:
		if key, ok := e.key.(literal); ok {
			if name, ok := key.value.(string); ok {
				return ": " + name
			}
		}
	}
	return ""
}

type member struct{ of, key expression }

func (e member) evaluate(r *run) any {
	r.took(1)
	return r.member(e.of.evaluate(r), e.key.evaluate(r))
}

// member returns the value of a dict, the item of a list, the character of a string, or a method.
func (r *run) member(x, key any) any {
	name, named := key.(string)
	switch x := x.(type) {
	case namespace:
		if value, ok := x.Get(name); ok && named {
			return value
		}
		return undefined{}
	case *Dict:
		if value, ok := x.Get(name); ok && named {
			return value
		}
	case *loopState:
		return x.member(name)
	case []any:
		if i, ok := indexOf(key, len(x)); ok {
			return x[i]
		}
	case string:
		if _, ok := key.(int); ok {
			characters := []rune(r.long(x))
			if i, ok := indexOf(key, len(characters)); ok {
				return string(characters[i])
			}
		}
	}
	if m := methodOf(x, name); named && m != nil {
		return m
	}
	return undefined{}
}

// indexOf returns an index, of which negative ones count from the end, and reports whether it is below n.
func indexOf(key any, n int) (int, bool) {
	i, ok := key.(int)
	if i < 0 {
		i += n
	}
	return i, ok && i >= 0 && i < n
}
