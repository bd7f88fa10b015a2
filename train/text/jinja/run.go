package jinja

import (
	"strings"
	"time"
)

// run is one rendering.
type run struct {
	out      *strings.Builder
	spans    []Span
	items    []any // of the loops that run
	scope    *scope
	now      time.Time
	line     int
	steps    int
	depth    int
	captured int // how many texts become values before they are rendered
}

// scope holds variables: of the template, of a loop or of a macro.
type scope struct {
	vars map[string]any
	up   *scope
}

func (s *scope) get(name string) any {
	for ; s != nil; s = s.up {
		if value, ok := s.vars[name]; ok {
			return value
		}
	}
	return undefined{}
}

// within calls f with the variables of a new scope.
func (r *run) within(f func(vars map[string]any)) {
	s := &scope{vars: map[string]any{}, up: r.scope}
	r.scope = s
	f(s.vars)
	r.scope = s.up
}

// took counts steps.
func (r *run) took(n int) {
	if r.steps += n; r.steps > mostSteps {
		fail("got a rendering of more than %d steps, want fewer", mostSteps)
	}
}

// long counts the steps of a text and returns it.
func (r *run) long(text string) string {
	r.took(len(text) / 16)
	return text
}

// deeper counts what is within one another; the function that it returns ends one.
func (r *run) deeper() func() {
	if r.depth++; r.depth > mostDepth {
		fail("got more than %d calls or values within one another, want fewer", mostDepth)
	}
	return func() { r.depth-- }
}

// capture returns the text of statements as a value.
func (r *run) capture(body []statement) string {
	before, text := r.out, strings.Builder{}
	r.out = &text
	r.captured++
	r.execute(body)
	r.out = before
	r.captured--
	return text.String()
}

// jump is how statements end.
type jump int

const (
	ends   jump = iota
	goesOn      // by continue
	leaves      // by break
)

type statement interface{ execute(r *run) jump }

// execute executes statements up to a break or continue.
func (r *run) execute(body []statement) jump {
	for _, s := range body {
		r.took(1)
		if j := s.execute(r); j != ends {
			return j
		}
	}
	return ends
}

func (j jump) execute(*run) jump { return j }

// numbered is a block at a line.
type numbered struct {
	line int
	statement
}

func (s numbered) execute(r *run) jump {
	r.line = s.line
	return s.statement.execute(r)
}

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

type loop struct {
	names           []string
	of              expression
	where           expression // nil for all items
	body, otherwise []statement
}

func (s loop) execute(r *run) jump {
	r.within(func(vars map[string]any) {
		set := func(item any) {
			if len(s.names) == 1 {
				vars[s.names[0]] = item
				return
			}
			unpack(vars, s.names, item)
		}
		var items []any
		for _, item := range r.itemsOf(s.of.evaluate(r)) {
			if s.where != nil {
				if set(item); !truth(s.where.evaluate(r)) {
					continue
				}
			}
			items = append(items, item)
		}
		if len(items) == 0 {
			r.execute(s.otherwise)
		}
		state := &loopState{items: items}
		vars["loop"] = state
		r.items = append(r.items, nil)
		for i, item := range items {
			r.items[len(r.items)-1] = item
			set(item)
			state.i = i
			if r.execute(s.body) == leaves {
				break
			}
		}
		r.items = r.items[:len(r.items)-1]
	})
	return ends
}

// loopState is the variable loop: where a loop is.
type loopState struct {
	items []any
	i     int
}

// member returns what a template asks of a loop.
func (l *loopState) member(name string) any {
	n := len(l.items)
	switch name {
	case "index":
		return l.i + 1
	case "index0":
		return l.i
	case "revindex":
		return n - l.i
	case "revindex0":
		return n - l.i - 1
	case "first":
		return l.i == 0
	case "last":
		return l.i == n-1
	case "length":
		return n
	case "previtem":
		if l.i > 0 {
			return l.items[l.i-1]
		}
	case "nextitem":
		if l.i < n-1 {
			return l.items[l.i+1]
		}
	}
	return undefined{}
}

// itemsOf returns the items of a list, or the names of a dict.
func (r *run) itemsOf(x any) []any {
	switch x := x.(type) {
	case []any:
		r.took(len(x))
		return x
	case *Dict:
		return r.keys(x)
	}
	fail("got a loop over %s, want a list or a dict", typeName(x))
	return nil
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
	r.spans = append(r.spans, Span{from, r.out.Len(), append([]any(nil), r.items...)})
	return j
}
