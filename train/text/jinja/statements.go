package jinja

// output is {{ value }}, or a text.
type output struct {
	line  int
	value expression
}

func (s output) execute(r *run) jump {
	r.line = s.line
	r.out.WriteString(r.long(r.textOf(s.value.evaluate(r))))
	return ends
}

type assignment struct {
	to    expression // a variable, a list of them or a member
	value expression // nil if it is the text of body
	body  []statement
}

func (s assignment) execute(r *run) jump {
	var value any
	if s.value == nil {
		value = r.capture(s.body)
	} else {
		value = s.value.evaluate(r)
	}
	if m, ok := s.to.(member); ok {
		of, ok := m.of.evaluate(r).(namespace)
		key, named := m.key.(literal).value.(string)
		if !ok || !named {
			fail("got an assignment to a member of %s, want it of a namespace", typeName(m.of.evaluate(r)))
		}
		of.Set(key, value)
		return ends
	}
	if v, ok := s.to.(variable); ok {
		r.scope.vars[v.name] = value
		return ends
	}
	unpack(r.scope.vars, namesOf(s.to), value)
	return ends
}

// unpack sets variables to the items of a list.
func unpack(vars map[string]any, names []string, value any) {
	items, ok := value.([]any)
	if !ok {
		fail("got %s for %d variables, want a list", typeName(value), len(names))
	}
	if len(items) != len(names) {
		fail("got %d items for %d variables, want as many", len(items), len(names))
	}
	for i, name := range names {
		vars[name] = items[i]
	}
}

type branch struct {
	test            expression
	body, otherwise []statement
}

func (s branch) execute(r *run) jump {
	if truth(s.test.evaluate(r)) {
		return r.execute(s.body)
	}
	return r.execute(s.otherwise)
}

type macro struct {
	name       string
	parameters []argument
	body       []statement
}

func (s macro) execute(r *run) jump {
	r.scope.vars[s.name] = function(func(r *run, args []any, named *Dict) any {
		defer r.deeper()()
		var text string
		r.within(func(vars map[string]any) {
			s.bind(r, vars, args, named)
			text = r.capture(s.body)
		})
		return text
	})
	return ends
}

// bind sets the parameters to the arguments of a call.
func (s macro) bind(r *run, vars map[string]any, args []any, named *Dict) {
	if len(args) > len(s.parameters) {
		fail("%s: got %d arguments, want at most %d", s.name, len(args), len(s.parameters))
	}
	for i, p := range s.parameters {
		value, ok := named.Get(p.name)
		switch {
		case i < len(args):
			vars[p.name] = args[i]
		case ok:
			vars[p.name] = value
		case p.value != nil:
			vars[p.name] = p.value.evaluate(r)
		default:
			vars[p.name] = undefined{}
		}
	}
	for _, name := range named.Keys() {
		if _, ok := vars[name]; !ok {
			fail("%s: got the argument %s, want one of its parameters", s.name, name)
		}
	}
}

// generation is what a model has written, or shall write.
type generation struct{ body []statement }

func (s generation) execute(r *run) jump {
	if r.captured > 0 {
		fail("got a generation block within a macro or set, want it in the text itself")
	}
	from := r.out.Len()
	j := r.execute(s.body)
	r.spans = append(r.spans, Span{From: from, To: r.out.Len(), Items: append([]any(nil), r.items...)})
	return j
}
