// Package jinja renders the chat templates of models: the part of Jinja that they use, as transformers sets it up, with
// the bytes of Hugging Face's JavaScript engine. There are set, if, for with break and continue, macro and generation;
// expressions with tests, filters, slices and methods of strings and dicts; namespace, range, raise_exception and
// strftime_now. There is nothing that reads a file, and a rendering takes a bounded number of steps.
package jinja

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Template is a template that has been read. Any number of goroutines may render it.
type Template struct {
	body []statement
}

// Span is a part of a rendered text that a generation block or a pass of a loop has rendered, from byte From to byte To.
type Span struct {
	From, To int
	Items    []any // of the loops around the block, the outer ones first; of a pass its own one
	Pass     bool  // a pass of a loop over dicts
}

// mostSteps bounds a rendering: a step is a statement, an expression, two items of a list or 16 bytes of a text.
const mostSteps = 10_000_000

// mostBytes bounds a template.
const mostBytes = 1 << 20

// mostDepth bounds what is within one another: blocks, expressions, calls of macros and values.
const mostDepth = 150

// failure is an error on its way to Parse or Render.
type failure struct{ error }

// rescue turns a failure into an error about a line of the template.
func rescue(err *error, line *int) {
	switch f := recover().(type) {
	case nil:
	case failure:
		*err = fmt.Errorf("line %d: %w", *line, f.error)
	default:
		panic(f)
	}
}

// fail ends Parse or Render.
func fail(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// Parse reads a template. Its blocks begin lines and end them without a trace: trim_blocks and lstrip_blocks are on.
func Parse(source string) (t *Template, err error) {
	p := &parser{line: 1}
	defer rescue(&err, &p.line)
	if len(source) > mostBytes {
		fail("got a template of %d bytes, want at most %d", len(source), mostBytes)
	}
	p.tokens = lex(source, &p.line)
	body := p.block()
	if p.kind() != endToken {
		fail("got %s without its beginning", p.next().text)
	}
	return &Template{body}, nil
}

// Render returns the text of the template with variables of these names, and the spans of its generation blocks and
// of the passes of its loops over dicts. strftime_now formats now. Where ctx ends, its cause is the error. Values are
// nil, bool, int, float64, string, []any and *Dict.
func (t *Template) Render(ctx context.Context, variables *Dict, now time.Time) (text string, spans []Span, err error) {
	if ctx == nil {
		return "", nil, errors.New("context: got nil, want one")
	}
	var out strings.Builder
	r := &run{ctx: ctx, out: &out, now: now, line: 1}
	defer rescue(&err, &r.line)
	vars := map[string]any{"namespace": function(newNamespace), "range": function(numbers),
		"raise_exception": function(raise), "strftime_now": function(strftime)}
	for _, name := range variables.Keys() {
		vars[name], _ = variables.Get(name)
	}
	r.scope = &scope{vars: vars}
	r.execute(t.body)
	return out.String(), r.spans, nil
}
