package jinja

import (
	"strconv"
	"strings"
)

// constants are names of values.
var constants = map[string]any{"true": true, "True": true, "false": false, "False": false, "none": nil, "None": nil}

func (p *parser) primary() expression {
	t := p.next()
	switch {
	case t.kind == stringToken:
		text := t.text
		for p.kind() == stringToken {
			text += p.next().text
		}
		return literal{text}
	case t.kind == numberToken:
		return literal{number(t.text)}
	case t.kind == nameToken:
		if value, ok := constants[t.text]; ok {
			return literal{value}
		}
		return variable{t.text}
	case t.kind != operatorToken:
	case t.text == "(":
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

// items takes what commas separate, up to the end.
func (p *parser) items(end string, item func()) {
	for !p.took(operatorToken, end) {
		item()
		if !p.took(operatorToken, ",") && !p.is(operatorToken, end) {
			fail("got %q, want , or %s", p.next().text, end)
		}
	}
}

// number returns the value of a number in digits.
func number(text string) any {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		fail("got the number %.30s, want a smaller one", strings.TrimSpace(text))
	}
	return x
}
