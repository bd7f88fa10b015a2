package jinja

import (
	"context"
	"strings"
	"time"
)

// run is one rendering.
type run struct {
	ctx      context.Context
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
	if r.ctx != nil && (r.steps+n)>>12 != r.steps>>12 && r.ctx.Err() != nil {
		panic(failure{context.Cause(r.ctx)})
	}
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
