package jinja

import (
	"context"
	"strings"
)

// mostSteps bounds a rendering. A step stands for about a byte of memory, or four nanoseconds.
const mostSteps = 80_000_000

// Costs in steps. A rendering pays for work and memory in advance: for each expression and statement, each item of a
// new list, each byte of a new text, and each byte that it reads.
const (
	nodeCost = 24  // an expression or a statement
	itemCost = 32  // an item of a new list
	keyCost  = 100 // a value with its name in a dict or a scope
	byteCost = 2   // a byte of a growing text
)

// spend pays for n steps.
func (r *run) spend(n int) {
	if n > mostSteps-r.steps {
		fail("got a rendering of more than %d steps, want fewer", mostSteps)
	}
	before := r.steps
	if r.steps += n; before>>16 != r.steps>>16 && r.ctx.Err() != nil {
		panic(failure{context.Cause(r.ctx)})
	}
}

// spendTimes pays for n steps m times.
func (r *run) spendTimes(n, m int) {
	if n > 0 && m > mostSteps/n {
		n, m = mostSteps+1, 1
	}
	r.spend(n * max(m, 0))
}

// eval returns the value of an expression.
func (r *run) eval(e expression) any {
	r.spend(nodeCost)
	return e.evaluate(r)
}

// read pays for reading a value, without its nested values.
func (r *run) read(x any) {
	switch x := x.(type) {
	case string:
		r.spend(len(x) / 4)
	case markup:
		r.spend(len(x) / 4)
	case []any:
		r.spend(4 * len(x))
	case tuple:
		r.spend(4 * len(x))
	case view:
		r.spend(4 * len(x.items))
	case *Dict:
		r.spend(4 * len(x.keys))
	}
}

// newList returns an empty list with capacity for n items.
func (r *run) newList(n int) []any {
	r.spendTimes(itemCost, n)
	return make([]any, 0, n)
}

// builder builds a text.
type builder struct {
	r *run
	strings.Builder
}

func (b *builder) write(text string) {
	b.r.spendTimes(byteCost, len(text))
	b.WriteString(text)
}

// repeat writes a text n times.
func (b *builder) repeat(text string, n int) {
	b.r.spendTimes(byteCost*len(text), n)
	b.WriteString(strings.Repeat(text, max(n, 0)))
}

// deeper counts a level of nesting; the function that it returns ends the level.
func (r *run) deeper() func() {
	if r.depth++; r.depth > mostDepth {
		fail("got more than %d calls or values within one another, want fewer", mostDepth)
	}
	return r.higher
}

func (r *run) higher() { r.depth-- }
