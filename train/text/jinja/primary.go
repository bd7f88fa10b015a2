package jinja

import (
	"strconv"
	"strings"
)

// constants maps the names of constants to their values.
var constants = map[string]any{"true": true, "True": true, "false": false, "False": false, "none": nil, "None": nil}

func (p *parser) primary() expression {
	t := p.next()
	switch {
	case t.kind == stringToken:
		text := []string{t.text}
		for p.kind() == stringToken {
			text = append(text, p.next().text)
		}
		return literal{strings.Join(text, "")}
	case t.kind == integerToken:
		return literal{parseInteger(t.text, 0)}
	case t.kind == floatToken:
		x, _ := strconv.ParseFloat(t.text, 64) // a float out of range is infinite
		return literal{x}
	case t.kind == nameToken:
		if value, ok := constants[t.text]; ok {
			return literal{value}
		}
		return variable{t.text}
	case t.kind != operatorToken:
	case t.text == "(":
		if p.took(operatorToken, ")") {
			return tupleOf{}
		}
		e := p.sequence()
		p.operator(")")
		return e
	case t.text == "[":
		var items []expression
		p.items("]", func() { items = append(items, p.expression()) })
		return list{items}
	case t.text == "{":
		var d dict
		p.items("}", func() {
			d.keys = append(d.keys, p.expression())
			p.operator(":")
			d.values = append(d.values, p.expression())
		})
		return d
	}
	fail("got %q, want an expression", t.text)
	return nil
}

// items returns expressions separated by commas, up to end.
func (p *parser) items(end string, item func()) {
	for !p.took(operatorToken, end) {
		item()
		if !p.took(operatorToken, ",") && !p.is(operatorToken, end) {
			fail("got %q, want , or %s", p.next().text, end)
		}
	}
}
