package jinja

import (
	"context"
	"time"
)

// run is one rendering.
type run struct {
	ctx      context.Context
	out      *builder
	spans    []Span
	items    []any // nested loops that are running
	scope    *scope
	now      time.Time
	line     int
	steps    int
	depth    int
	captured int // how many nested values are being rendered to texts
}

// scope holds the variables of the template, of a pass of a loop, of a macro or of a block.
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
	return undefined{name}
}

// set sets a variable of the current scope.
func (r *run) set(name string, value any) {
	r.spend(keyCost)
	if r.scope.vars == nil {
		r.scope.vars = map[string]any{}
	}
	r.scope.vars[name] = value
}

// within calls f with a new scope inside another one.
func (r *run) within(up *scope, f func()) {
	before := r.scope
	r.scope = &scope{up: up}
	f()
	r.scope = before
}

// capture returns the text of statements as a value.
func (r *run) capture(body []statement) string {
	before := r.out
	r.out = &builder{r: r}
	r.captured++
	r.within(r.scope, func() { r.execute(body) })
	text := r.out.String()
	r.out = before
	r.captured--
	return text
}

// jump says how statements ended.
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
		r.spend(nodeCost)
		if j := s.execute(r); j != ends {
			return j
		}
	}
	return ends
}

func (j jump) execute(*run) jump { return j }

// numbered is a block with its line number.
type numbered struct {
	line int
	statement
}

func (s numbered) execute(r *run) jump {
	r.line = s.line
	return s.statement.execute(r)
}
