// Package jinja renders the chat templates of models. It implements the part of Jinja that they use, as transformers 5
// sets up Python's jinja2, with the same bytes. It has set, if, for with break and continue, macro, raw and generation;
// expressions with tests, filters, slices and methods of strings, lists and dicts that do not change their object;
// namespace, dict, range, raise_exception and strftime_now. A template cannot read files, and a rendering has a limited
// number of steps, which measure its time and its memory.
package jinja

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Template is a template that has been read. Any number of goroutines may render it.
type Template struct {
	body []statement
}

// Span is the part of a rendered text, from byte From to byte To, that a generation block or a pass of a loop has
// rendered.
type Span struct {
	From, To int
	Items    []any // items of the loops around a block, the outer ones first; for a pass, its own item
	Pass     bool  // whether it is a pass of a loop over dicts
}

// mostBytes is the largest size of a template.
const mostBytes = 1 << 20

// mostDepth limits the nesting of blocks, expressions, macro calls and values.
const mostDepth = 150

// failure is the panic that carries an error to Parse or Render.
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

// fail ends Parse or Render with an error.
func fail(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// Parse parses a template. As with trim_blocks and lstrip_blocks, it removes blanks before a block at the beginning of
// a line, and the newline after a block.
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

// Render returns the text of the template for the given variables, and the spans of its generation blocks and of the
// passes of its loops over dicts. strftime_now formats now. If ctx is done, its cause is the error. Values are nil,
// bool, int, *big.Int, float64, string, []any and *Dict.
func (t *Template) Render(ctx context.Context, variables *Dict, now time.Time) (text string, spans []Span, err error) {
	if ctx == nil {
		return "", nil, errors.New("context: got nil, want one")
	}
	r := &run{ctx: ctx, now: now, line: 1, scope: &scope{}}
	r.out = &builder{r: r}
	defer rescue(&err, &r.line)
	for name, f := range functions {
		r.set(name, f)
	}
	for _, name := range variables.Keys() {
		r.set(name, variables.values[name])
	}
	r.execute(t.body)
	return r.out.String(), r.spans, nil
}
